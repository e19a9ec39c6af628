package main

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
)

var patchChecks = []check{
	{"strategic, merge and JSON patches of a Deployment", threePatches},
	{"status and scale are subresources", statusAndScale},
	{"a read-modify-write loop converges", retryOnConflict},
}

func deployment(name string) *appsv1.Deployment {
	replicas := int32(2)
	labels := map[string]string{"app": name}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "nginx:1"}}},
			},
		},
	}
}

func threePatches(ctx context.Context, env Environment) error {
	deployments := env.Client.AppsV1().Deployments(env.Namespace)
	made, err := deployments.Create(ctx, deployment("web"), metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("create: %w", err)
	}
	if made.Spec.Strategy.RollingUpdate == nil || made.Spec.RevisionHistoryLimit == nil || made.Generation != 1 {
		return differ("defaults", "strategy, history limit and generation", made)
	}
	patches := []struct {
		kind types.PatchType
		body string
	}{
		{types.StrategicMergePatchType, `{"spec":{"template":{"spec":{"containers":[{"name":"side","image":"busybox"}]}}}}`},
		{types.MergePatchType, `{"metadata":{"labels":{"x":"y"}}}`},
		{types.JSONPatchType, `[{"op":"replace","path":"/spec/replicas","value":5}]`},
	}
	for _, patch := range patches {
		if made, err = deployments.Patch(ctx, "web", patch.kind, []byte(patch.body), metav1.PatchOptions{}); err != nil {
			return fmt.Errorf("%s: %w", patch.kind, err)
		}
	}
	if containers := made.Spec.Template.Spec.Containers; len(containers) != 2 || made.Labels["x"] != "y" || *made.Spec.Replicas != 5 || made.Generation != 3 {
		return differ("patched", "two containers, label x, five replicas, generation 3", made)
	}
	return nil
}

func statusAndScale(ctx context.Context, env Environment) error {
	deployments := env.Client.AppsV1().Deployments(env.Namespace)
	made, err := deployments.Create(ctx, deployment("web"), metav1.CreateOptions{})
	if err != nil {
		return err
	}
	made.Status.Replicas = 2
	made.Status.ObservedGeneration = 1
	made.Spec.Replicas = new(int32)
	withStatus, err := deployments.UpdateStatus(ctx, made, metav1.UpdateOptions{})
	if err != nil {
		return fmt.Errorf("status: %w", err)
	}
	if withStatus.Status.Replicas != 2 || *withStatus.Spec.Replicas != 2 || withStatus.Generation != 1 {
		return differ("after a status update", "status changed, spec not", withStatus)
	}
	scale, err := deployments.GetScale(ctx, "web", metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("get scale: %w", err)
	}
	if scale.Spec.Replicas != 2 || scale.Status.Replicas != 2 || scale.Status.Selector != "app=web" {
		return differ("scale", "2 of 2, app=web", scale)
	}
	scale.Spec.Replicas = 7
	if _, err := deployments.UpdateScale(ctx, "web", scale, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("update scale: %w", err)
	}
	after, err := deployments.Get(ctx, "web", metav1.GetOptions{})
	if err != nil {
		return err
	}
	if *after.Spec.Replicas != 7 || after.Generation != 2 {
		return differ("after scaling", "7 replicas, generation 2", after)
	}
	return nil
}

func retryOnConflict(ctx context.Context, env Environment) error {
	maps := env.Client.CoreV1().ConfigMaps(env.Namespace)
	if _, err := maps.Create(ctx, configMap("counter", map[string]string{"n": ""}), metav1.CreateOptions{}); err != nil {
		return err
	}
	const writers, rounds = 4, 5
	failures := make(chan error, writers)
	for range writers {
		go func() {
			failures <- func() error {
				for range rounds {
					backoff := retry.DefaultBackoff
					backoff.Steps = 30
					err := retry.RetryOnConflict(backoff, func() error {
						object, err := maps.Get(ctx, "counter", metav1.GetOptions{})
						if err != nil {
							return err
						}
						object.Data["n"] += "x"
						_, err = maps.Update(ctx, object, metav1.UpdateOptions{})
						return err
					})
					if err != nil {
						return err
					}
				}
				return nil
			}()
		}()
	}
	for range writers {
		if err := <-failures; err != nil {
			return err
		}
	}
	object, err := maps.Get(ctx, "counter", metav1.GetOptions{})
	if err != nil {
		return err
	}
	if len(object.Data["n"]) != writers*rounds {
		return differ("counted", writers*rounds, len(object.Data["n"]))
	}
	return nil
}
