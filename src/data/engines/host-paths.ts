/**
 * Directories of nodes that a dataset or its runtime names, although the administrator allows none there. Admission refuses
 * them; here are those that came in otherwise: before the list of prefixes was shortened, past a webhook that did not answer, or
 * into an object that was being deleted. Pure.
 */
import { datasetErrors } from '../../kinds/fluid/admission/dataset-rules.ts'
import { type HostPathPrefixes, hostPathErrors } from '../../kinds/fluid/admission/host-paths.ts'
import { runtimeErrorsOf } from '../../kinds/fluid/admission/runtime-rules.ts'
import type { Dataset } from '../../kinds/fluid/index.ts'
import { type FieldError, fieldErrorMessage } from '../../kube/field-error.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { isAbsoluteClean } from '../../kube/node-path.ts'
import type { Engine, Prepared, Served } from './engine.ts'

/** The first, as a sentence; undefined: everything is allowed. */
function refusedDirectory({ runtime, dataset }: { runtime: KubeObject; dataset: Dataset }, prefixes: HostPathPrefixes): string | undefined {
  return (
    introducedBy((allowed) => datasetErrors(dataset.spec, allowed), 'Dataset', prefixes) ??
    introducedBy((allowed) => runtimeErrorsOf(runtime, allowed), runtime.kind, prefixes)
  )
}

/** What the prefixes alone forbid: the rules of admission are asked, so that they and this cannot differ. */
function introducedBy(
  errorsOf: (prefixes: HostPathPrefixes) => FieldError[],
  kind: string,
  prefixes: HostPathPrefixes,
): string | undefined {
  if (prefixes === 'all') return undefined
  const others = new Set(errorsOf('all').map(fieldErrorMessage))
  const found = errorsOf(prefixes)
    .map(fieldErrorMessage)
    .find((message) => !others.has(message))
  return found === undefined ? undefined : `${kind} ${found}`
}

/** Why a directory of the node is not given to a pod; undefined: it may be. */
export const whyNotAllowed = (path: string, prefixes: HostPathPrefixes): string | undefined => hostPathErrors('', path, prefixes)[0]?.detail

/** Names of directories that climb are below everything by their text: no pod gets one, whoever wrote it. */
function climbingIn({ objects }: Prepared): string | undefined {
  const path = [...objects.sets, ...objects.daemonSets]
    .flatMap(({ spec }) => spec?.template?.spec?.volumes ?? [])
    .flatMap(({ hostPath }) => hostPath?.path ?? [])
    .find((one) => !isAbsoluteClean(one))
  return path === undefined ? undefined : `${JSON.stringify(path.slice(0, 200))} is no absolute path without "..": write the whole path`
}

/** The same engine, which serves nothing that names such a directory. */
export const withinHostPaths = (engine: Engine): Engine => ({
  ...engine,
  serve(input, options) {
    const message = refusedDirectory(input, options.hostPathPrefixes)
    if (message !== undefined) return refusal(message)
    const served = engine.serve(input, options)
    const climbing = served.prepared === undefined ? undefined : climbingIn(served.prepared)
    return climbing === undefined ? served : refusal(climbing)
  },
})

const refusal = (message: string): Served => ({ refused: { reason: 'DirectoryNotAllowed', message } })
