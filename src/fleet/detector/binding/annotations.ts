/** What the detector notes on objects for itself and for people. */

/** On a binding, or a template without one: what it waits for, in a sentence. */
export const WAITING_BECAUSE = 'sluice.dev/waiting-because'

/** On a template: a lazy policy has claimed it and waits for people to change it; the value is what they had written by then. */
export const DEFERRED = 'sluice.dev/deferred'
