/** Log records as lines: for people, with time and level before the message and fields after it; as JSON for machines. */
import pc from 'picocolors'
import type { Log, LogFields, LogLevel } from '../base/log.ts'
import { CommandError, type Machine } from './machine.ts'

type LogFormat = 'text' | 'json'

const LEVELS: readonly LogLevel[] = ['debug', 'info', 'warn', 'error']

interface LogOptions {
  format: LogFormat
  /** The lowest level that is written. */
  level: LogLevel
  colours: boolean
  nowMs(): number
  write(line: string): void
}

function createLog(options: LogOptions): Log {
  const lowest = LEVELS.indexOf(options.level)
  return {
    write(level, message, fields = {}) {
      if (LEVELS.indexOf(level) < lowest) return
      const time = new Date(options.nowMs()).toISOString()
      options.write(
        `${options.format === 'json' ? jsonLine(time, level, message, fields) : textLine(time, level, message, { fields, colours: options.colours })}\n`,
      )
    },
  }
}

const jsonLine = (time: string, level: LogLevel, message: string, fields: LogFields): string =>
  JSON.stringify({ time, level, message, ...fields })

function textLine(time: string, level: LogLevel, message: string, { fields, colours }: { fields: LogFields; colours: boolean }): string {
  const paint = pc.createColors(colours)
  const colour = { debug: paint.dim, info: paint.cyan, warn: paint.yellow, error: paint.red }[level]
  const shown = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => `${paint.dim(`${key}=`)}${typeof value === 'string' && /[\s"=]/.test(value) ? JSON.stringify(value) : value}`)
  return [paint.dim(time), colour(level.padEnd(5)), message, ...shown].join(' ')
}

/** The machine with a log as a command's options request it, written to standard error. */
export function withLog(machine: Machine, options: { logFormat?: string; logLevel?: string }): Machine {
  const { logFormat: format = 'text', logLevel: level = 'info' } = options
  if (format !== 'text' && format !== 'json') throw new CommandError(`--log-format takes text or json, not ${JSON.stringify(format)}`)
  if (!isLevel(level)) throw new CommandError(`--log-level takes ${LEVELS.join(', ')}, not ${JSON.stringify(level)}`)
  const { clock, isTerminal, err } = machine
  return { ...machine, log: createLog({ format, level, colours: isTerminal, nowMs: () => clock.now(), write: err }) }
}

const isLevel = (text: string): text is LogLevel => (LEVELS as readonly string[]).includes(text)
