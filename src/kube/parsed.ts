/** The outcome of parsing a text: a value, or the error message of Go's parser. */
export type Parsed<T> = { value: T; error?: undefined } | { value?: undefined; error: string }

export const parsed = <T>(value: T): Parsed<T> => ({ value })
export const unparsed = <T>(error: string): Parsed<T> => ({ error })
