package main

import (
	"encoding/json"
	"sort"
	"strings"

	openapiv2 "github.com/google/gnostic-models/openapiv2"
	openapiv3 "github.com/google/gnostic-models/openapiv3"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// openAPIMessages are the layouts of the two OpenAPI documents that can be asked for as protobuf.
var openAPIMessages = map[string]protoreflect.FileDescriptor{
	"openapi-v2-messages": openapiv2.File_openapiv2_OpenAPIv2_proto,
	"openapi-v3-messages": openapiv3.File_openapiv3_OpenAPIv3_proto,
}

type openAPIField struct {
	Number   int    `json:"number"`
	Name     string `json:"name"`
	Type     string `json:"type"`
	Repeated bool   `json:"repeated,omitempty"`
	JSON     string `json:"json,omitempty"`
	Oneof    string `json:"oneof,omitempty"`
}

func describeOpenAPI(file protoreflect.FileDescriptor) map[string]string {
	lines := map[string]string{}
	messages := file.Messages()
	for i := range messages.Len() {
		message := messages.Get(i)
		fields := []openAPIField{}
		for j := range message.Fields().Len() {
			field := message.Fields().Get(j)
			entry := openAPIField{Number: int(field.Number()), Name: string(field.Name()), Type: field.Kind().String(), Repeated: field.IsList()}
			if field.Message() != nil {
				entry.Type = string(field.Message().FullName())
			}
			if name := jsonNameOf(field); name != entry.Name {
				entry.JSON = name
			}
			if field.ContainingOneof() != nil {
				entry.Oneof = string(field.ContainingOneof().Name())
			}
			fields = append(fields, entry)
		}
		sort.SliceStable(fields, func(a, b int) bool { return fields[a].Number < fields[b].Number })
		text, err := json.Marshal(fields)
		check(err)
		lines[string(message.FullName())] = string(text)
	}
	return lines
}

// jsonNameOf gives the key in the document: an underscore in front stands for the dollar of `$ref`.
func jsonNameOf(field protoreflect.FieldDescriptor) string {
	if rest, ok := strings.CutPrefix(string(field.Name()), "_"); ok {
		return "$" + rest
	}
	return field.JSONName()
}
