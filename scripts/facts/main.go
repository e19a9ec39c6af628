// Prints facts for src/kinds/kubernetes/facts: messages (the default), openapi-v2-messages or openapi-v3-messages.
//
// messages.facts holds the Go structs behind the built-in kinds, read by
// reflection from the registered types of the published modules (go.mod pins them). One message per line:
//
//	"<message>": ["t", [number, json name, type, flags?, Go type?], ...]
//
// in the order of the struct's fields, because encoders print JSON in that order. "t" stands where TypeMeta is embedded.
// Flags: p pointer, r list, m map with string keys, i embedded (its fields print in the parent), n printed when empty
// (no omitempty), z left out when the whole value is zero (omitzero). The Go type, as Go's decoding errors print it, is
// there only where it does not follow from the type.
//
// A type that decodes its own JSON (Time, Quantity, IntOrString, …) has no entry: the reader knows each by name.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"sort"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

type message interface{ Marshal() ([]byte, error) }

var (
	messageType     = reflect.TypeFor[message]()
	unmarshalerType = reflect.TypeFor[json.Unmarshaler]()
	typeMetaType    = reflect.TypeFor[metav1.TypeMeta]()
)

func main() {
	name := "messages"
	if len(os.Args) > 1 {
		name = os.Args[1]
	}
	if file, ok := openAPIMessages[name]; ok {
		check(write(describeOpenAPI(file)))
		return
	}
	check(write(describeKinds()))
}

func describeKinds() map[string]string {
	seen := map[reflect.Type]bool{}
	lines := map[string]string{}
	for pending := roots(); len(pending) > 0; {
		next := pending[len(pending)-1]
		pending = pending[:len(pending)-1]
		if seen[next] || !isPlainMessage(next) {
			continue
		}
		seen[next] = true
		entries, used := describe(next)
		text, err := compact(entries)
		check(err)
		lines[messageName(next)] = text
		pending = append(pending, used...)
	}
	return lines
}

// isPlainMessage tells structs that travel as protobuf and whose JSON follows from their tags.
func isPlainMessage(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && reflect.PointerTo(t).Implements(messageType) && !reflect.PointerTo(t).Implements(unmarshalerType)
}

// describe gives the entries of a struct's fields, and the types they use.
func describe(t reflect.Type) (entries []any, used []reflect.Type) {
	for i := range t.NumField() {
		field := t.Field(i)
		tag, inProtobuf := field.Tag.Lookup("protobuf")
		if field.Type == typeMetaType && field.Anonymous && !inProtobuf {
			entries = append(entries, "t")
			continue
		}
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "-" || tag == "-" {
			continue
		}
		if !inProtobuf {
			fail("%s.%s has no protobuf tag", t, field.Name)
		}
		isInline := field.Anonymous && name == ""
		if name == "" && !isInline {
			fail("%s.%s has no JSON name", t, field.Name)
		}
		goType, flags := field.Type, ""
		if goType.Kind() == reflect.Pointer {
			goType, flags = goType.Elem(), "p"
		}
		item, shape := itemOf(goType)
		flags += shape
		switch {
		case isInline:
			flags += "i"
		case has(options, "omitzero"):
			flags += "z"
		case !has(options, "omitempty"):
			flags += "n"
		}
		entry := []any{fieldNumber(t, field, tag), name, typeName(item), flags, ""}
		if goType.String() != impliedGoType(item, shape) {
			entry[4] = goType.String()
		}
		for entry[len(entry)-1] == "" {
			entry = entry[:len(entry)-1]
		}
		entries = append(entries, entry)
		used = append(used, item)
	}
	return entries, used
}

// itemOf gives the type of one item of a list or map, and the flag of its shape. Lists that are messages of their own
// (Verbs, ExtraValue) and bytes are single values.
func itemOf(t reflect.Type) (reflect.Type, string) {
	switch {
	case reflect.PointerTo(t).Implements(messageType):
		return t, ""
	case t.Kind() == reflect.Slice && t.Elem().Kind() != reflect.Uint8:
		return t.Elem(), "r"
	case t.Kind() == reflect.Map && t.Key().Kind() == reflect.String:
		return t.Elem(), "m"
	default:
		return t, ""
	}
}

func typeName(t reflect.Type) string {
	if reflect.PointerTo(t).Implements(messageType) {
		return messageName(t)
	}
	switch t.Kind() {
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "bool"
	case reflect.Int32:
		return "int32"
	case reflect.Int64:
		return "int64"
	case reflect.Float64:
		return "double"
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return "bytes"
		}
	}
	fail("no protobuf type for %s", t)
	return ""
}

// messageName is the package path with dots, as the .proto files of these modules name their packages.
func messageName(t reflect.Type) string {
	return strings.NewReplacer("/", ".", "-", "_").Replace(t.PkgPath()) + "." + t.Name()
}

// impliedGoType is what the reader takes for the Go type when the facts name none.
func impliedGoType(item reflect.Type, shape string) string {
	parts := strings.Split(typeName(item), ".")
	one := strings.Join(parts[max(0, len(parts)-2):], ".")
	switch one {
	case "double":
		one = "float64"
	case "bytes":
		one = "[]uint8"
	}
	switch shape {
	case "r":
		return "[]" + one
	case "m":
		return "map[string]" + one
	default:
		return one
	}
}

func fieldNumber(t reflect.Type, field reflect.StructField, tag string) int {
	parts := strings.Split(tag, ",")
	if len(parts) < 2 {
		fail("%s.%s: no number in %q", t, field.Name, tag)
	}
	number, err := strconv.Atoi(parts[1])
	check(err)
	return number
}

func has(options, option string) bool {
	for _, one := range strings.Split(options, ",") {
		if one == option {
			return true
		}
	}
	return false
}

func compact(entries []any) (string, error) {
	if entries == nil {
		return "[]", nil
	}
	text, err := json.Marshal(entries)
	return string(text), err
}

func write(lines map[string]string) error {
	names := make([]string, 0, len(lines))
	for name := range lines {
		names = append(names, name)
	}
	sort.Strings(names)
	out := bufio.NewWriter(os.Stdout)
	out.WriteString("{\n")
	for i, name := range names {
		comma := ","
		if i == len(names)-1 {
			comma = ""
		}
		fmt.Fprintf(out, "%q:%s%s\n", name, lines[name], comma)
	}
	out.WriteString("}\n")
	return out.Flush()
}

func check(err error) {
	if err != nil {
		fail("%v", err)
	}
}

func fail(format string, values ...any) {
	fmt.Fprintf(os.Stderr, "facts: "+format+"\n", values...)
	os.Exit(1)
}
