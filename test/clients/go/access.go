package main

import (
	"context"
	"fmt"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
)

var recorderScheme = scheme.Scheme

var accessChecks = []check{
	{"a service account's token is issued, reviewed and used", serviceAccountToken},
	{"roles decide what an impersonated user may do", impersonation},
}

func serviceAccountToken(ctx context.Context, env Environment) error {
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "robot"}}
	if _, err := env.Client.CoreV1().ServiceAccounts(env.Namespace).Create(ctx, account, metav1.CreateOptions{}); err != nil {
		return err
	}
	issued, err := env.Client.CoreV1().ServiceAccounts(env.Namespace).CreateToken(ctx, "robot", &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("token: %w", err)
	}
	review := &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: issued.Status.Token}}
	reviewed, err := env.Client.AuthenticationV1().TokenReviews().Create(ctx, review, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("review: %w", err)
	}
	user := fmt.Sprintf("system:serviceaccount:%s:robot", env.Namespace)
	if !reviewed.Status.Authenticated || reviewed.Status.User.Username != user {
		return differ("review", user, reviewed.Status)
	}
	config := rest.AnonymousClientConfig(env.Config)
	config.BearerToken = issued.Status.Token
	robot := kubernetes.NewForConfigOrDie(config)
	if _, err := robot.CoreV1().ConfigMaps(env.Namespace).List(ctx, metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		return differ("list without a role", "Forbidden", err)
	}
	whoami, err := robot.AuthenticationV1().SelfSubjectReviews().Create(ctx, &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("who am I: %w", err)
	}
	if whoami.Status.UserInfo.Username != user {
		return differ("who am I", user, whoami.Status.UserInfo.Username)
	}
	return nil
}

func impersonation(ctx context.Context, env Environment) error {
	config := rest.CopyConfig(env.Config)
	config.Impersonate = rest.ImpersonationConfig{UserName: "jane"}
	jane := kubernetes.NewForConfigOrDie(config)
	if _, err := jane.CoreV1().ConfigMaps(env.Namespace).List(ctx, metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		return differ("list without a role", "Forbidden", err)
	}
	role := &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Name: "reader"},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"list"}}},
	}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "jane"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "reader"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: "jane"}},
	}
	if _, err := env.Client.RbacV1().Roles(env.Namespace).Create(ctx, role, metav1.CreateOptions{}); err != nil {
		return err
	}
	if _, err := env.Client.RbacV1().RoleBindings(env.Namespace).Create(ctx, binding, metav1.CreateOptions{}); err != nil {
		return err
	}
	attributes := &authorizationv1.ResourceAttributes{Namespace: env.Namespace, Verb: "list", Resource: "configmaps"}
	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: attributes}}
	// A real server's role caches take a moment.
	for {
		answer, err := jane.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
		if err != nil {
			return fmt.Errorf("access review: %w", err)
		}
		if answer.Status.Allowed {
			break
		}
	}
	_, err := jane.CoreV1().ConfigMaps(env.Namespace).List(ctx, metav1.ListOptions{})
	return err
}
