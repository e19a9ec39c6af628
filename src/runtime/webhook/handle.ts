/** What the webhook server answers, without a network: one function from a path and a body to a status and a body. */
import type { Admission, AdmissionReader, Right } from '../../kinds/admission.ts'
import type { UserInfo } from '../../kinds/kind.ts'
import { StatusError } from '../../kube/status.ts'
import { reviewAdmission } from './admission-review.ts'
import { webhookPath } from './configuration.ts'
import { type ConvertibleKind, reviewConversion } from './conversion-review.ts'

export interface WebhookOptions {
  admissions: readonly Admission[]
  kinds: readonly ConvertibleKind[]
  read: AdmissionReader
  /** Asks the server. */
  hasRight(user: UserInfo, right: Right): Promise<boolean>
  /** Resolves once `read` knows what is stored: awaited before each decision that reads. */
  ready(): Promise<void>
  nowMs(): number
  newUid(): string
  onError(error: unknown, path: string): void
}

export interface WebhookAnswer {
  status: number
  body: unknown
}

export type WebhookHandle = (path: string, body: Uint8Array) => Promise<WebhookAnswer>

export const CONVERT_PATH = '/convert'

export function webhookHandle(options: WebhookOptions): WebhookHandle {
  const routes = new Map(
    options.admissions.flatMap((admission) =>
      (['mutate', 'validate'] as const).map((phase) => [webhookPath(admission, phase), { admission, phase }] as const),
    ),
  )
  const { read, hasRight, newUid } = options
  return async (path, body) => {
    try {
      const review: unknown = JSON.parse(Buffer.from(body).toString('utf8'))
      if (path === CONVERT_PATH) return { status: 200, body: reviewConversion(review, options.kinds) }
      const route = routes.get(path)
      if (route === undefined) return { status: 404, body: { message: `there is no webhook at ${path}` } }
      if (route.admission.reads !== undefined) await options.ready()
      return { status: 200, body: await reviewAdmission(review, { ...route, read, hasRight, nowMs: options.nowMs(), newUid }) }
    } catch (error) {
      if (error instanceof SyntaxError) return { status: 400, body: { message: 'the body is not JSON' } }
      if (error instanceof StatusError) return { status: error.status.code ?? 400, body: { message: error.message } }
      options.onError(error, path)
      return { status: 500, body: { message: 'the webhook failed; its log says why' } }
    }
  }
}
