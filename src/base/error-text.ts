/** What an error says. Anything may be thrown, so anything is taken. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
