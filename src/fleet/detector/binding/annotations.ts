/** Annotations that the detector keeps for itself and for users. */

/** On a binding, or on a template that has none: what it waits for, in one sentence. */
export const WAITING_BECAUSE = 'sluice.dev/waiting-because'

/** On a template: a lazy policy has claimed it and waits for users to change it; the value is the users' content at that time. */
export const DEFERRED = 'sluice.dev/deferred'
