package main

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
)

var podChecks = []check{
	{"a pod is bound, reports its status and is evicted", podLife},
	{"a bound pod is deleted gracefully", gracefulDeletion},
	{"events are recorded", recordEvents},
}

func pod(name string) *corev1.Pod {
	noGrace := int64(0)
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"app": name}},
		Spec:       corev1.PodSpec{TerminationGracePeriodSeconds: &noGrace, Containers: []corev1.Container{{Name: "main", Image: "nginx"}}},
	}
}

func bind(ctx context.Context, env Environment, name, node string) error {
	return env.Client.CoreV1().Pods(env.Namespace).Bind(ctx, &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Target:     corev1.ObjectReference{Kind: "Node", Name: node},
	}, metav1.CreateOptions{})
}

func podLife(ctx context.Context, env Environment) error {
	pods := env.Client.CoreV1().Pods(env.Namespace)
	if _, err := pods.Create(ctx, pod("a"), metav1.CreateOptions{}); err != nil {
		return err
	}
	if err := bind(ctx, env, "a", "somewhere"); err != nil {
		return fmt.Errorf("bind: %w", err)
	}
	if err := bind(ctx, env, "a", "elsewhere"); !apierrors.IsConflict(err) {
		return differ("second binding", "Conflict", err)
	}
	onNode, err := pods.List(ctx, metav1.ListOptions{FieldSelector: "spec.nodeName=somewhere"})
	if err != nil {
		return err
	}
	if len(onNode.Items) != 1 {
		return differ("pods on the node", 1, len(onNode.Items))
	}
	bound := onNode.Items[0]
	if scheduled := bound.Status.Conditions; len(scheduled) != 1 || scheduled[0].Type != corev1.PodScheduled || scheduled[0].Status != corev1.ConditionTrue {
		return differ("conditions after binding", "PodScheduled", scheduled)
	}
	bound.Status.Phase = corev1.PodRunning
	if _, err := pods.UpdateStatus(ctx, &bound, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("status: %w", err)
	}
	eviction := &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: "a"}}
	if err := pods.EvictV1(ctx, eviction); err != nil {
		return fmt.Errorf("evict: %w", err)
	}
	if _, err := pods.Get(ctx, "a", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		return differ("get after eviction", "NotFound", err)
	}
	return nil
}

func gracefulDeletion(ctx context.Context, env Environment) error {
	pods := env.Client.CoreV1().Pods(env.Namespace)
	object := pod("a")
	grace := int64(30)
	object.Spec.TerminationGracePeriodSeconds = &grace
	if _, err := pods.Create(ctx, object, metav1.CreateOptions{}); err != nil {
		return err
	}
	if err := bind(ctx, env, "a", "somewhere"); err != nil {
		return err
	}
	if err := pods.Delete(ctx, "a", metav1.DeleteOptions{}); err != nil {
		return err
	}
	dying, err := pods.Get(ctx, "a", metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("get while terminating: %w", err)
	}
	if dying.DeletionTimestamp == nil || *dying.DeletionGracePeriodSeconds != 30 {
		return differ("deletion", "a timestamp and 30 seconds", dying.ObjectMeta)
	}
	return pods.Delete(ctx, "a", *metav1.NewDeleteOptions(0))
}

func recordEvents(ctx context.Context, env Environment) error {
	about, err := env.Client.CoreV1().ConfigMaps(env.Namespace).Create(ctx, configMap("a", nil), metav1.CreateOptions{})
	if err != nil {
		return err
	}
	about.APIVersion, about.Kind = "v1", "ConfigMap"
	list := metav1.ListOptions{FieldSelector: "regarding.name=a"}
	told, err := env.Client.EventsV1().Events(env.Namespace).Watch(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	defer told.Stop()
	broadcaster := events.NewBroadcaster(&events.EventSinkImpl{Interface: env.Client.EventsV1()})
	broadcaster.StartRecordingToSink(ctx.Done())
	defer broadcaster.Shutdown()
	broadcaster.NewRecorder(recorderScheme, "client-go-check").Eventf(about, nil, corev1.EventTypeNormal, "Tried", "Trying", "a %s", "note")
	if _, err := nextEvent(ctx, told); err != nil {
		return err
	}
	found, err := env.Client.EventsV1().Events(env.Namespace).List(ctx, list)
	if err != nil {
		return err
	}
	if len(found.Items) != 1 || found.Items[0].Note != "a note" || found.Items[0].Reason != "Tried" {
		return differ("events", "one with the note", found.Items)
	}
	old, err := env.Client.CoreV1().Events(env.Namespace).List(ctx, metav1.ListOptions{FieldSelector: "involvedObject.name=a"})
	if err != nil {
		return err
	}
	if len(old.Items) != 1 || old.Items[0].Message != "a note" {
		return differ("the same in the core group", "one with the message", old.Items)
	}
	return nil
}
