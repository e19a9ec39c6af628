import type { Scope } from '../scope.ts'
import type { KubeObject } from '../../kube/meta.ts'
export async function evictPod(_scope: Scope, _name: string, _binding: KubeObject): Promise<void> {}
