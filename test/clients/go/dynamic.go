package main

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/restmapper"
)

var dynamicChecks = []check{
	{"discovery lists every group, and maps kinds to resources", discoverAll},
	{"the metadata client sees metadata alone", metadataOnly},
	{"a custom resource is defined and used", customResource},
}

func discoverAll(_ context.Context, env Environment) error {
	client, err := discovery.NewDiscoveryClientForConfig(env.Config)
	if err != nil {
		return err
	}
	lists, err := client.ServerPreferredResources()
	if err != nil {
		return fmt.Errorf("preferred resources: %w", err)
	}
	if len(lists) < 15 {
		return differ("group versions", "at least 15", len(lists))
	}
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(client))
	mapping, err := mapper.RESTMapping(schema.GroupKind{Group: "apps", Kind: "Deployment"})
	if err != nil {
		return err
	}
	if mapping.Resource.Resource != "deployments" || mapping.Resource.Version != "v1" {
		return differ("mapping", "apps/v1 deployments", mapping.Resource)
	}
	version, err := client.ServerVersion()
	if err != nil {
		return err
	}
	if version.Major != "1" {
		return differ("major version", 1, version.Major)
	}
	_, err = client.OpenAPIV3().Paths()
	return err
}

func metadataOnly(ctx context.Context, env Environment) error {
	client, err := metadata.NewForConfig(env.Config)
	if err != nil {
		return err
	}
	if _, err := env.Client.CoreV1().ConfigMaps(env.Namespace).Create(ctx, configMap("a", map[string]string{"k": "v"}), metav1.CreateOptions{}); err != nil {
		return err
	}
	maps := client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).Namespace(env.Namespace)
	list, err := maps.List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	if len(list.Items) != 1 || list.Items[0].Labels["name"] != "a" {
		return differ("metadata", "a", list.Items)
	}
	return maps.Delete(ctx, "a", metav1.DeleteOptions{})
}

func customResource(ctx context.Context, env Environment) error {
	client, err := dynamic.NewForConfig(env.Config)
	if err != nil {
		return err
	}
	group := env.Namespace + ".example.com"
	definitions := client.Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"})
	if _, err := definitions.Create(ctx, definition(group), metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("define: %w", err)
	}
	widgets := client.Resource(schema.GroupVersionResource{Group: group, Version: "v1", Resource: "widgets"}).Namespace(env.Namespace)
	widget := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": group + "/v1", "kind": "Widget",
		"metadata": map[string]any{"name": "a"},
		"spec":     map[string]any{"size": int64(3), "unknown": "pruned"},
	}}
	var made *unstructured.Unstructured
	for {
		if made, err = widgets.Create(ctx, widget, metav1.CreateOptions{}); err == nil {
			break
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("create: %w", err)
		case <-time.After(100 * time.Millisecond):
		}
	}
	color, _, _ := unstructured.NestedString(made.Object, "spec", "color")
	_, kept, _ := unstructured.NestedString(made.Object, "spec", "unknown")
	if color != "green" || kept {
		return differ("spec", "color defaulted, unknown pruned", made.Object["spec"])
	}
	_ = unstructured.SetNestedField(widget.Object, "big", "spec", "size")
	widget.SetName("b")
	if _, err := widgets.Create(ctx, widget, metav1.CreateOptions{}); err == nil {
		return differ("a wrong type", "refused", "accepted")
	}
	return definitions.Delete(ctx, "widgets."+group, metav1.DeleteOptions{})
}

func definition(group string) *unstructured.Unstructured {
	properties := map[string]any{
		"size":  map[string]any{"type": "integer"},
		"color": map[string]any{"type": "string", "default": "green"},
	}
	spec := map[string]any{"type": "object", "properties": properties}
	root := map[string]any{"type": "object", "properties": map[string]any{"spec": spec}}
	version := map[string]any{"name": "v1", "served": true, "storage": true, "schema": map[string]any{"openAPIV3Schema": root}}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": "widgets." + group},
		"spec": map[string]any{
			"group": group, "scope": "Namespaced", "versions": []any{version},
			"names": map[string]any{"plural": "widgets", "singular": "widget", "kind": "Widget"},
		},
	}}
}
