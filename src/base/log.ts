/**
 * Structured logs as a value: a constant message and fields. How a line looks, and where it goes, is decided in
 * main.ts; worlds keep the records and inspect them.
 */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>

export interface Log {
  write(level: LogLevel, message: string, fields?: LogFields): void
}

/** The same log with fields that every line carries. */
export function withFields(log: Log, fields: LogFields): Log {
  return { write: (level, message, more) => log.write(level, message, { ...fields, ...more }) }
}
