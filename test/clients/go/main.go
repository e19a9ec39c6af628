// Checks that a client-go program works against the server as it does against Kubernetes. Every check runs in a namespace of
// its own and prints one line of JSON: {"check": name, "ok": true} or {"check": name, "ok": false, "error": why}.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// A generous limit: what is checked is the outcome, not the speed.
const patience = 60 * time.Second

// Environment is what a check gets: the default configuration, typed clients made of it, and a fresh namespace.
type Environment struct {
	Config    *rest.Config
	Client    kubernetes.Interface
	Namespace string
}

type check struct {
	name string
	run  func(ctx context.Context, env Environment) error
}

func main() {
	kubeconfig := flag.String("kubeconfig", "", "file to reach the server")
	flag.Parse()
	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	client := kubernetes.NewForConfigOrDie(config)
	failed := false
	for _, c := range all() {
		err := runCheck(c, config, client)
		report(c.name, err)
		failed = failed || err != nil
	}
	if failed {
		os.Exit(1)
	}
}

func all() []check {
	var checks []check
	for _, part := range [][]check{objectChecks, patchChecks, applyChecks, watchChecks, leaderChecks, podChecks, accessChecks, dynamicChecks} {
		checks = append(checks, part...)
	}
	return checks
}

func runCheck(c check, config *rest.Config, client kubernetes.Interface) (err error) {
	defer func() {
		if problem := recover(); problem != nil {
			err = fmt.Errorf("panic: %v", problem)
		}
	}()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "client-go-"}}
	made, err := client.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("namespace: %w", err)
	}
	return c.run(ctx, Environment{Config: config, Client: client, Namespace: made.Name})
}

func report(name string, err error) {
	line := map[string]any{"check": name, "ok": err == nil}
	if err != nil {
		line["error"] = err.Error()
	}
	encoded, _ := json.Marshal(line)
	fmt.Println(string(encoded))
}

// differ is the error of an expectation that was not met.
func differ(what string, want, got any) error {
	return fmt.Errorf("%s: expected %v, got %v", what, want, got)
}
