package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
)

var watchChecks = []check{
	{"a watch tells what happens to objects of a selector", watchSelector},
	{"a watch resumes where another ended", watchResumes},
	{"informers fill, follow and resync", informerResync},
	{"an informer lists again when its version is too old", informerRelist},
}

func nextEvent(ctx context.Context, events watch.Interface) (watch.Event, error) {
	select {
	case event, open := <-events.ResultChan():
		if !open {
			return event, fmt.Errorf("the watch ended")
		}
		return event, nil
	case <-ctx.Done():
		return watch.Event{}, fmt.Errorf("no event: %w", ctx.Err())
	}
}

func expectEvents(ctx context.Context, events watch.Interface, want ...string) error {
	for _, expected := range want {
		event, err := nextEvent(ctx, events)
		if err != nil {
			return fmt.Errorf("waiting for %s: %w", expected, err)
		}
		object, isMap := event.Object.(*corev1.ConfigMap)
		if !isMap {
			return differ("object of an event", "a ConfigMap", event.Object)
		}
		if got := fmt.Sprintf("%s %s", event.Type, object.Name); got != expected {
			return differ("event", expected, got)
		}
	}
	return nil
}

func watchSelector(ctx context.Context, env Environment) error {
	maps := env.Client.CoreV1().ConfigMaps(env.Namespace)
	list, err := maps.List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	events, err := maps.Watch(ctx, metav1.ListOptions{LabelSelector: "name=a", ResourceVersion: list.ResourceVersion})
	if err != nil {
		return err
	}
	defer events.Stop()
	for _, name := range []string{"b", "a"} {
		if _, err := maps.Create(ctx, configMap(name, nil), metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	object, err := maps.Get(ctx, "a", metav1.GetOptions{})
	if err != nil {
		return err
	}
	object.Data = map[string]string{"k": "v"}
	if object, err = maps.Update(ctx, object, metav1.UpdateOptions{}); err != nil {
		return err
	}
	object.Labels["name"] = "other"
	if _, err := maps.Update(ctx, object, metav1.UpdateOptions{}); err != nil {
		return err
	}
	return expectEvents(ctx, events, "ADDED a", "MODIFIED a", "DELETED a")
}

func watchResumes(ctx context.Context, env Environment) error {
	maps := env.Client.CoreV1().ConfigMaps(env.Namespace)
	first, err := maps.Create(ctx, configMap("a", nil), metav1.CreateOptions{})
	if err != nil {
		return err
	}
	for _, name := range []string{"b", "c"} {
		if _, err := maps.Create(ctx, configMap(name, nil), metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	if err := maps.Delete(ctx, "b", metav1.DeleteOptions{}); err != nil {
		return err
	}
	events, err := maps.Watch(ctx, metav1.ListOptions{ResourceVersion: first.ResourceVersion})
	if err != nil {
		return err
	}
	defer events.Stop()
	return expectEvents(ctx, events, "ADDED b", "ADDED c", "DELETED b")
}

// seen collects what an informer told, and waits until it told something.
type seen struct {
	mutex sync.Mutex
	told  []string
}

func (s *seen) add(kind string, object any) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if unknown, isUnknown := object.(cache.DeletedFinalStateUnknown); isUnknown {
		object = unknown.Obj
	}
	s.told = append(s.told, kind+" "+object.(*corev1.ConfigMap).Name)
}

func (s *seen) waitFor(ctx context.Context, what string) error {
	for {
		s.mutex.Lock()
		found := slices.Contains(s.told, what)
		told := slices.Clone(s.told)
		s.mutex.Unlock()
		if found {
			return nil
		}
		select {
		case <-ctx.Done():
			return differ("informer", what, told)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func (s *seen) handler() cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		AddFunc: func(object any) { s.add("add", object) },
		UpdateFunc: func(before, after any) {
			if before.(*corev1.ConfigMap).ResourceVersion == after.(*corev1.ConfigMap).ResourceVersion {
				s.add("resync", after)
			} else {
				s.add("update", after)
			}
		},
		DeleteFunc: func(object any) { s.add("delete", object) },
	}
}

func informerResync(ctx context.Context, env Environment) error {
	maps := env.Client.CoreV1().ConfigMaps(env.Namespace)
	if _, err := maps.Create(ctx, configMap("before", nil), metav1.CreateOptions{}); err != nil {
		return err
	}
	factory := informers.NewSharedInformerFactoryWithOptions(env.Client, time.Second, informers.WithNamespace(env.Namespace))
	informer := factory.Core().V1().ConfigMaps().Informer()
	var events seen
	if _, err := informer.AddEventHandler(events.handler()); err != nil {
		return err
	}
	factory.Start(ctx.Done())
	for kind, synced := range factory.WaitForCacheSync(ctx.Done()) {
		if !synced {
			return fmt.Errorf("the cache of %v was never filled", kind)
		}
	}
	made, err := maps.Create(ctx, configMap("after", nil), metav1.CreateOptions{})
	if err != nil {
		return err
	}
	made.Data = map[string]string{"k": "v"}
	if _, err := maps.Update(ctx, made, metav1.UpdateOptions{}); err != nil {
		return err
	}
	for _, expected := range []string{"add before", "add after", "update after", "resync before"} {
		if err := events.waitFor(ctx, expected); err != nil {
			return err
		}
	}
	if err := maps.Delete(ctx, "after", metav1.DeleteOptions{}); err != nil {
		return err
	}
	if err := events.waitFor(ctx, "delete after"); err != nil {
		return err
	}
	listed, err := factory.Core().V1().ConfigMaps().Lister().ConfigMaps(env.Namespace).Get("before")
	if err != nil || listed.Name != "before" {
		return differ("the lister", "before", err)
	}
	return nil
}

// The first watches are answered as a server does that has forgotten the version: the reflector must list anew and miss nothing.
func informerRelist(ctx context.Context, env Environment) error {
	maps := env.Client.CoreV1().ConfigMaps(env.Namespace)
	if _, err := maps.Create(ctx, configMap("before", nil), metav1.CreateOptions{}); err != nil {
		return err
	}
	var lists, refusals atomic.Int32
	source := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			lists.Add(1)
			return maps.List(ctx, options)
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			isFollowing := options.SendInitialEvents == nil || !*options.SendInitialEvents
			if isFollowing && refusals.Add(1) <= 2 {
				name := fmt.Sprintf("during-%d", refusals.Load())
				if _, err := maps.Create(ctx, configMap(name, nil), metav1.CreateOptions{}); err != nil {
					return nil, err
				}
				return nil, apierrors.NewResourceExpired("too old resource version")
			}
			return maps.Watch(ctx, options)
		},
	}
	informer := cache.NewSharedInformer(listOnly{source}, &corev1.ConfigMap{}, 0)
	var events seen
	if _, err := informer.AddEventHandler(events.handler()); err != nil {
		return err
	}
	go informer.RunWithContext(ctx)
	for _, expected := range []string{"add before", "add during-1", "add during-2"} {
		if err := events.waitFor(ctx, expected); err != nil {
			return err
		}
	}
	if lists.Load() < 2 {
		return differ("lists", "at least 2", lists.Load())
	}
	if _, err := maps.Create(ctx, configMap("after", nil), metav1.CreateOptions{}); err != nil {
		return err
	}
	return events.waitFor(ctx, "add after")
}

// listOnly makes the reflector list instead of streaming the initial objects, so that both ways are used in these checks.
type listOnly struct{ *cache.ListWatch }

func (listOnly) IsWatchListSemanticsUnSupported() bool { return true }
