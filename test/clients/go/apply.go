package main

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	appsv1 "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1 "k8s.io/client-go/applyconfigurations/core/v1"
	applymetav1 "k8s.io/client-go/applyconfigurations/meta/v1"
)

var applyChecks = []check{
	{"typed apply creates, changes and gives up fields", applyConfigMap},
	{"apply by another manager is a conflict until forced", applyConflict},
	{"what a manager applied can be extracted", extractApplied},
	{"a Service is applied with its defaults", applyService},
}

func applyConfigMap(ctx context.Context, env Environment) error {
	maps := env.Client.CoreV1().ConfigMaps(env.Namespace)
	options := metav1.ApplyOptions{FieldManager: "one"}
	if _, err := maps.Apply(ctx, corev1.ConfigMap("a", env.Namespace).WithData(map[string]string{"k": "v", "l": "w"}), options); err != nil {
		return fmt.Errorf("create: %w", err)
	}
	after, err := maps.Apply(ctx, corev1.ConfigMap("a", env.Namespace).WithData(map[string]string{"k": "v2"}), options)
	if err != nil {
		return fmt.Errorf("change: %w", err)
	}
	if len(after.Data) != 1 || after.Data["k"] != "v2" {
		return differ("data", "k=v2 alone", after.Data)
	}
	if len(after.ManagedFields) != 1 || after.ManagedFields[0].Manager != "one" || after.ManagedFields[0].Operation != metav1.ManagedFieldsOperationApply {
		return differ("managed fields", "one entry of manager one", after.ManagedFields)
	}
	again, err := maps.Apply(ctx, corev1.ConfigMap("a", env.Namespace).WithData(map[string]string{"k": "v2"}), options)
	if err != nil {
		return err
	}
	if again.ResourceVersion != after.ResourceVersion {
		return differ("resourceVersion after applying the same", after.ResourceVersion, again.ResourceVersion)
	}
	return nil
}

func webApply(namespace string, replicas int32, image string) *appsv1.DeploymentApplyConfiguration {
	labels := map[string]string{"app": "web"}
	container := corev1.Container().WithName("main").WithImage(image).WithPorts(corev1.ContainerPort().WithContainerPort(80))
	template := corev1.PodTemplateSpec().WithLabels(labels).WithSpec(corev1.PodSpec().WithContainers(container))
	spec := appsv1.DeploymentSpec().WithSelector(applymetav1.LabelSelector().WithMatchLabels(labels)).WithTemplate(template).WithReplicas(replicas)
	return appsv1.Deployment("web", namespace).WithSpec(spec)
}

func applyConflict(ctx context.Context, env Environment) error {
	deployments := env.Client.AppsV1().Deployments(env.Namespace)
	if _, err := deployments.Apply(ctx, webApply(env.Namespace, 2, "nginx:1"), metav1.ApplyOptions{FieldManager: "one"}); err != nil {
		return err
	}
	_, err := deployments.Apply(ctx, webApply(env.Namespace, 3, "nginx:1"), metav1.ApplyOptions{FieldManager: "two"})
	if !apierrors.IsConflict(err) {
		return differ("apply by another manager", "Conflict", err)
	}
	forced, err := deployments.Apply(ctx, webApply(env.Namespace, 3, "nginx:1"), metav1.ApplyOptions{FieldManager: "two", Force: true})
	if err != nil {
		return err
	}
	if *forced.Spec.Replicas != 3 {
		return differ("replicas after forcing", 3, *forced.Spec.Replicas)
	}
	return nil
}

func extractApplied(ctx context.Context, env Environment) error {
	deployments := env.Client.AppsV1().Deployments(env.Namespace)
	live, err := deployments.Apply(ctx, webApply(env.Namespace, 2, "nginx:1"), metav1.ApplyOptions{FieldManager: "one"})
	if err != nil {
		return err
	}
	extracted, err := appsv1.ExtractDeployment(live, "one")
	if err != nil {
		return fmt.Errorf("extract: %w", err)
	}
	if extracted.Spec == nil || *extracted.Spec.Replicas != 2 || extracted.Spec.RevisionHistoryLimit != nil {
		return differ("extracted", "the applied fields and no defaults", extracted.Spec)
	}
	extracted.Spec.WithReplicas(4)
	after, err := deployments.Apply(ctx, extracted, metav1.ApplyOptions{FieldManager: "one"})
	if err != nil {
		return err
	}
	if *after.Spec.Replicas != 4 {
		return differ("replicas", 4, *after.Spec.Replicas)
	}
	return nil
}

func applyService(ctx context.Context, env Environment) error {
	port := corev1.ServicePort().WithName("http").WithPort(80)
	service := corev1.Service("web", env.Namespace).WithSpec(corev1.ServiceSpec().WithSelector(map[string]string{"app": "web"}).WithPorts(port))
	made, err := env.Client.CoreV1().Services(env.Namespace).Apply(ctx, service, metav1.ApplyOptions{FieldManager: "one"})
	if err != nil {
		return err
	}
	if made.Spec.ClusterIP == "" || made.Spec.Ports[0].Protocol != "TCP" || made.Spec.Ports[0].TargetPort.IntValue() != 80 {
		return differ("defaults", "an address, TCP and target port 80", made.Spec)
	}
	return nil
}
