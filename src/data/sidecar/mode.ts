/** In which form a sidecar is part of a pod. */

/**
 * `native-sidecar`: an init container that keeps running; the pod's own containers start when it is ready, and its end is the
 * pod's. `container`: what Fluid did before there were such containers.
 */
export const SIDECAR_MODES = ['native-sidecar', 'container'] as const
export type SidecarMode = (typeof SIDECAR_MODES)[number]
