/** v1 Secret: a member fills in the tokens of its own service accounts. */
import { isJsonObject } from '../../../base/json.ts'
import type { KindRules } from '../interpreter.ts'
import { SERVICE_ACCOUNT_TOKEN } from './prune.ts'

export const secretRules: KindRules = {
  retain: (desired, observed) =>
    desired.type === SERVICE_ACCOUNT_TOKEN && isJsonObject(observed.data) ? { ...desired, data: observed.data } : desired,
}
