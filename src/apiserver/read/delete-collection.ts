/** DELETE of a collection: everything the selectors match, a bounded number at a time; answers with what was there. */

import type { ApiResponse } from '../../kube/http.ts'
import type { KubeObject } from '../../kube/meta.ts'
import { StatusError } from '../../kube/status.ts'
import { decodeDeleteOptions } from '../codec.ts'
import type { Negotiated } from '../negotiation.ts'
import { parseDeleteOptions, parseListOptions } from '../options.ts'
import type { Scope } from '../scope.ts'
import { deleteObject, warnAboutDefaultOrphans } from '../write/delete.ts'
import { collect, render } from './list.ts'
import { parseSelection } from './selection.ts'

const AT_ONCE = 16

export async function deleteCollection(scope: Scope, negotiated: Negotiated): Promise<ApiResponse> {
  const options = parseDeleteOptions(scope.info.query, decodeDeleteOptions(scope))
  const listOptions = parseListOptions(scope.info.query, false)
  const selection = parseSelection(scope, listOptions)
  warnAboutDefaultOrphans(scope, options)
  const listed = await collect(scope, listOptions, selection)
  const names = listed.versions.map((version) => (version.object() as KubeObject).metadata)
  for (let i = 0; i < names.length; i += AT_ONCE)
    await Promise.all(
      names.slice(i, i + AT_ONCE).map(async (meta) => {
        const one: Scope = { ...scope, info: { ...scope.info, namespace: meta.namespace ?? '', name: meta.name ?? '' } }
        try {
          await deleteObject(one, meta.name ?? '', options)
        } catch (error) {
          // Someone else deleted it in the meantime, which is just as good.
          if (!(error instanceof StatusError) || error.code !== 404) throw error
        }
      }),
    )
  return render(scope, negotiated, listed)
}
