/** The message of an error. Anything may be thrown, so anything is accepted. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
