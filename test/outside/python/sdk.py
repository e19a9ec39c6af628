"""Fluid's Python SDK at work, as its users write it: create a dataset, bind it, wait, look, read, delete.

Prints a line of JSON for each check: its name, and what went wrong. Each step builds on those before it, so the first failure
ends a sequence. Usage: sdk.py KUBECONFIG DIRECTORY
"""

import json
import os
import sys
import time
import traceback

from fluid import ClientConfig, FluidClient
from kubernetes import client

NAMESPACE = "default"
PATIENCE_SECONDS = 120
GROUP = {"group": "data.fluid.io", "version": "v1alpha1", "namespace": NAMESPACE}

kubeconfig, directory = sys.argv[1:3]
fluid = FluidClient(ClientConfig(namespace=NAMESPACE, kube_config_file=kubeconfig))
core = client.CoreV1Api()
objects = client.CustomObjectsApi()
contents = "".join(open(os.path.join(directory, name), encoding="utf-8").read() for name in sorted(os.listdir(directory)))


def run(sequence, steps):
    for name, step in steps:
        check = f"{sequence}: {name}"
        try:
            step()
        except Exception:  # pylint: disable=broad-except
            print(json.dumps({"check": check, "error": traceback.format_exc()}))
            return
        print(json.dumps({"check": check}))


def eventually(what, look):
    """The first true answer of `look`."""
    waited = 0.0
    while True:
        seen = look()
        if seen:
            return seen
        assert waited < PATIENCE_SECONDS, f"not seen in {PATIENCE_SECONDS} s: {what}"
        waited += 0.2
        time.sleep(0.2)


def is_gone(read):
    try:
        read()
    except client.ApiException as error:
        assert error.status == 404, error
        return True
    return False


def same(actual, expected):
    assert actual == expected, f"{actual!r} is not {expected!r}"


def create(name, mount_point):
    fluid.create_dataset(name, mount_name="books", mount_point=mount_point, mount_path="/")
    dataset = fluid.get_dataset(name)
    same(dataset.obj.spec.mounts[0].mount_point, mount_point)
    same(dataset.obj.spec.access_modes, ["ReadOnlyMany"])
    eventually("NotBound", lambda: fluid.get_dataset(name).report_status("binding_status") == {"phase": "NotBound", "runtimes": []})


def check_bound(name, runtime_type):
    status = fluid.get_dataset(name).report_status("binding_status")
    same(status["phase"], "Bound")
    same([(runtime.name, runtime.type) for runtime in status["runtimes"]], [(name, runtime_type)])


def check_figures(name):
    def look():
        figures = fluid.get_dataset(name).report_status("cache")
        # The first report may be older than the first word of a worker.
        return figures if figures and figures["dataset file num"] == "3" and figures.get("cacheCapacity") == "1.00GiB" else None

    figures = eventually("the number of files and the capacity", look)
    same(figures["dataset total size"], f"{len(contents) / 1024:.2f}KiB")


def check_read(name):
    mount = client.V1VolumeMount(name="data", mount_path="/data")
    claim = client.V1PersistentVolumeClaimVolumeSource(claim_name=name)
    container = client.V1Container(name="reader", image="this-machine", command=["sh", "-c", "cat /data/*"], volume_mounts=[mount])
    spec = client.V1PodSpec(
        restart_policy="Never",
        containers=[container],
        volumes=[client.V1Volume(name="data", persistent_volume_claim=claim)],
    )
    pod = f"{name}-reader"
    core.create_namespaced_pod(NAMESPACE, client.V1Pod(metadata=client.V1ObjectMeta(name=pod), spec=spec))
    ended = ("Succeeded", "Failed")
    phase = eventually("the end of the reader", lambda: (lambda p: p in ended and p)(core.read_namespaced_pod(pod, NAMESPACE).status.phase))
    same(phase, "Succeeded")
    same(core.read_namespaced_pod_log(pod, NAMESPACE), contents)
    core.delete_namespaced_pod(pod, NAMESPACE)
    eventually("no reader", lambda: is_gone(lambda: core.read_namespaced_pod(pod, NAMESPACE)))


def clean_up(name, plural):
    fluid.get_dataset(name).clean_up(wait=True)
    assert is_gone(lambda: fluid.get_dataset(name)), "the dataset is still there"
    check_nothing_left(name, plural)


def delete_unbound(name, plural):
    """The SDK fails on a dataset without runtimes in its status, as Fluid writes it, too. A runtime that nobody serves is its user's own."""
    fluid.k8s_client.delete_runtime(name, runtime_type="alluxio", namespace=NAMESPACE, wait_until_cleaned_up=True)
    objects.delete_namespaced_custom_object(**GROUP, plural="datasets", name=name)
    eventually("no dataset", lambda: is_gone(lambda: fluid.get_dataset(name)))
    check_nothing_left(name, plural)


def check_nothing_left(name, plural):
    eventually("no runtime", lambda: is_gone(lambda: objects.get_namespaced_custom_object(**GROUP, plural=plural, name=name)))
    eventually("no claim", lambda: is_gone(lambda: core.read_namespaced_persistent_volume_claim(name, NAMESPACE)))
    eventually("no volume", lambda: is_gone(lambda: core.read_persistent_volume(f"{NAMESPACE}-{name}")))
    eventually("no pods", lambda: not [pod for pod in core.list_namespaced_pod(NAMESPACE).items if pod.metadata.name.startswith(name)])


def served_by(name, runtime_type):
    runtime = fluid.k8s_client.get_runtime(name, runtime_type=runtime_type)
    same(runtime.status.worker_phase, "Ready")
    return [condition.message for condition in runtime.status.conditions if condition.type == "Served"]


def refuse_second(name):
    try:
        fluid.create_dataset(name, mount_name="books", mount_point=f"local://{directory}", mount_path="/")
    except RuntimeError as error:
        assert "(409)" in str(error), error
        return
    raise AssertionError("a second dataset of that name was made")


def bind_cache_runtime(name):
    """The SDK has no model of a CacheRuntime; it waits for a dataset whichever runtime it has."""
    worker = {"replicas": 1, "tieredStore": {"levels": [{"emptyDir": {"quota": "1Gi"}}]}}
    body = {
        "apiVersion": "data.fluid.io/v1alpha1",
        "kind": "CacheRuntime",
        "metadata": {"name": name},
        "spec": {"runtimeClassName": "builtin", "worker": worker},
    }
    objects.create_namespaced_custom_object(**GROUP, plural="cacheruntimes", body=body)
    fluid.k8s_client.wait_dataset_bound(name, NAMESPACE)


def bind_unread(name):
    fluid.get_dataset(name).bind_runtime("alluxio", replicas=1, cache_capacity_GiB=1, wait=False)

    def look():
        conditions = fluid.get_dataset(name).report_status("full").conditions or []
        return [condition.message for condition in conditions if "cannot read hdfs://" in (condition.message or "")]

    eventually("why it is not bound", look)
    same(fluid.get_dataset(name).report_status("binding_status")["phase"], "NotBound")


for kind in ("alluxio", "jindo", "juicefs"):
    run(
        kind,
        [
            ("create", lambda kind=kind: create(kind, f"local://{directory}")),
            ("a second one is refused", lambda kind=kind: refuse_second(kind)),
            (
                "bind, and wait until it is bound",
                lambda kind=kind: fluid.get_dataset(kind).bind_runtime(kind, replicas=1, cache_capacity_GiB=1, wait=True),
            ),
            ("the status is what the SDK expects", lambda kind=kind: check_bound(kind, kind)),
            (
                "the runtime says who serves it",
                lambda kind=kind: same(["builtin cache" in message for message in served_by(kind, kind)], [True]),
            ),
            ("files and capacity are reported", lambda kind=kind: check_figures(kind)),
            ("a pod reads it", lambda kind=kind: check_read(kind)),
            ("clean up, and nothing is left", lambda kind=kind: clean_up(kind, f"{kind}runtimes")),
        ],
    )

run(
    "cache",
    [
        ("create", lambda: create("cache", f"local://{directory}")),
        ("a CacheRuntime of the class builtin, and wait until it is bound", lambda: bind_cache_runtime("cache")),
        ("the status is what the SDK expects", lambda: check_bound("cache", "cache")),
        ("files and capacity are reported", lambda: check_figures("cache")),
        ("a pod reads it", lambda: check_read("cache")),
        ("clean up, and nothing is left", lambda: clean_up("cache", "cacheruntimes")),
    ],
)

run(
    "a source that cannot be read",
    [
        ("create", lambda: create("unread", "hdfs://namenode:8020/books")),
        ("stays unbound, and says why", lambda: bind_unread("unread")),
        ("the runtime is deleted by the SDK, the dataset without it, and nothing is left", lambda: delete_unbound("unread", "alluxioruntimes")),
    ],
)
