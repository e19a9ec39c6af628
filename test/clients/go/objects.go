package main

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/pager"
)

var objectChecks = []check{
	{"create, get, update and delete a typed object", createUpdateDelete},
	{"requests are sent in protobuf, the default", sentAsProtobuf},
	{"an update from an old version is a conflict", updateConflict},
	{"errors carry their reason", errorReasons},
	{"a dry run stores nothing", dryRun},
	{"lists come in pages", pages},
	{"delete obeys preconditions", deletePreconditions},
	{"deletecollection takes a selector", deleteCollection},
}

func configMap(name string, data map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"name": name}}, Data: data}
}

func createUpdateDelete(ctx context.Context, env Environment) error {
	maps := env.Client.CoreV1().ConfigMaps(env.Namespace)
	object := configMap("a", map[string]string{"k": "v"})
	object.BinaryData = map[string][]byte{"bytes": {0, 1, 254, 255}}
	made, err := maps.Create(ctx, object, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("create: %w", err)
	}
	if made.UID == "" || made.ResourceVersion == "" || made.CreationTimestamp.IsZero() {
		return differ("metadata of the created", "uid, resourceVersion and creationTimestamp", made.ObjectMeta)
	}
	made.Data["k"] = "w"
	updated, err := maps.Update(ctx, made, metav1.UpdateOptions{})
	if err != nil {
		return fmt.Errorf("update: %w", err)
	}
	if updated.ResourceVersion == made.ResourceVersion {
		return differ("resourceVersion after an update", "another", updated.ResourceVersion)
	}
	got, err := maps.Get(ctx, "a", metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("get: %w", err)
	}
	if got.Data["k"] != "w" || string(got.BinaryData["bytes"]) != "\x00\x01\xfe\xff" {
		return differ("content", "the updated", got)
	}
	if err := maps.Delete(ctx, "a", metav1.DeleteOptions{}); err != nil {
		return fmt.Errorf("delete: %w", err)
	}
	if _, err := maps.Get(ctx, "a", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		return differ("get after delete", "NotFound", err)
	}
	return nil
}

func updateConflict(ctx context.Context, env Environment) error {
	maps := env.Client.CoreV1().ConfigMaps(env.Namespace)
	first, err := maps.Create(ctx, configMap("a", map[string]string{"k": "1"}), metav1.CreateOptions{})
	if err != nil {
		return err
	}
	second := first.DeepCopy()
	second.Data["k"] = "2"
	if _, err := maps.Update(ctx, second, metav1.UpdateOptions{}); err != nil {
		return err
	}
	first.Data["k"] = "3"
	if _, err := maps.Update(ctx, first, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
		return differ("update from an old version", "Conflict", err)
	}
	return nil
}

func errorReasons(ctx context.Context, env Environment) error {
	maps := env.Client.CoreV1().ConfigMaps(env.Namespace)
	if _, err := maps.Create(ctx, configMap("a", nil), metav1.CreateOptions{}); err != nil {
		return err
	}
	if _, err := maps.Create(ctx, configMap("a", nil), metav1.CreateOptions{}); !apierrors.IsAlreadyExists(err) {
		return differ("second create", "AlreadyExists", err)
	}
	if _, err := maps.Create(ctx, configMap("Not_A_Name", nil), metav1.CreateOptions{}); !apierrors.IsInvalid(err) {
		return differ("create with a bad name", "Invalid", err)
	}
	if _, err := env.Client.CoreV1().ConfigMaps("no-such-namespace").Create(ctx, configMap("a", nil), metav1.CreateOptions{}); !apierrors.IsNotFound(err) {
		return differ("create in a missing namespace", "NotFound", err)
	}
	return nil
}

func dryRun(ctx context.Context, env Environment) error {
	maps := env.Client.CoreV1().ConfigMaps(env.Namespace)
	if _, err := maps.Create(ctx, configMap("a", nil), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}); err != nil {
		return err
	}
	if _, err := maps.Get(ctx, "a", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		return differ("get after a dry run", "NotFound", err)
	}
	return nil
}

func pages(ctx context.Context, env Environment) error {
	maps := env.Client.CoreV1().ConfigMaps(env.Namespace)
	for i := range 25 {
		if _, err := maps.Create(ctx, configMap(fmt.Sprintf("c-%02d", i), nil), metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	seen, requests := 0, 0
	lister := pager.New(func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
		requests++
		return maps.List(ctx, options)
	})
	lister.PageSize = 10
	err := lister.EachListItem(ctx, metav1.ListOptions{}, func(runtime.Object) error {
		seen++
		return nil
	})
	if err != nil {
		return err
	}
	if seen != 25 || requests != 3 {
		return differ("items and requests", "25 in 3", fmt.Sprintf("%d in %d", seen, requests))
	}
	return nil
}

func deletePreconditions(ctx context.Context, env Environment) error {
	maps := env.Client.CoreV1().ConfigMaps(env.Namespace)
	made, err := maps.Create(ctx, configMap("a", nil), metav1.CreateOptions{})
	if err != nil {
		return err
	}
	wrong := metav1.NewUIDPreconditions("00000000-0000-0000-0000-000000000000")
	if err := maps.Delete(ctx, "a", metav1.DeleteOptions{Preconditions: wrong}); !apierrors.IsConflict(err) {
		return differ("delete with another uid", "Conflict", err)
	}
	return maps.Delete(ctx, "a", metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(made.UID))})
}

func deleteCollection(ctx context.Context, env Environment) error {
	maps := env.Client.CoreV1().ConfigMaps(env.Namespace)
	for _, name := range []string{"a", "b", "c"} {
		if _, err := maps.Create(ctx, configMap(name, nil), metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	if err := maps.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "name in (a, b)"}); err != nil {
		return err
	}
	left, err := maps.List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	if len(left.Items) != 1 || left.Items[0].Name != "c" {
		return differ("what is left", "c", left.Items)
	}
	return nil
}

type recordContentType struct {
	next http.RoundTripper
	last atomic.Value
}

func (r *recordContentType) RoundTrip(request *http.Request) (*http.Response, error) {
	r.last.Store(request.Header.Get("Content-Type"))
	return r.next.RoundTrip(request)
}

// Without this the other checks would prove less than they seem to.
func sentAsProtobuf(ctx context.Context, env Environment) error {
	recorder := &recordContentType{}
	config := rest.CopyConfig(env.Config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		recorder.next = next
		return recorder
	})
	client := kubernetes.NewForConfigOrDie(config)
	if _, err := client.CoreV1().ConfigMaps(env.Namespace).Create(ctx, configMap("a", nil), metav1.CreateOptions{}); err != nil {
		return err
	}
	if sent := recorder.last.Load(); sent != runtime.ContentTypeProtobuf {
		return differ("content type", runtime.ContentTypeProtobuf, sent)
	}
	return nil
}
