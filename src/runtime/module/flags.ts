/**
 * The options of a module as flags of the command line: what a flag is called, what it means, and how its text becomes part
 * of the module's options. `up` and `controllers` take their flags from here; nothing else has to know them.
 */
import { type Parsed, parsed, unparsed } from '../../kube/parsed.ts'

export type FlagCommand = 'up' | 'controllers'

/** What parsing a flag may use: a flag can name a file or a directory. */
export interface FlagFiles {
  /** Against the directory the command was started in. */
  resolve(path: string): string
  read(path: string): Promise<string | undefined>
  exists(path: string): Promise<boolean>
}

export interface Flag<Options> {
  /** As commander reads it: `--eviction-rate <n>`. */
  flag: string
  /** For --help and the reference; ends with `(default …)` where there is one. */
  about: string
  /** The commands that take it (default: both). */
  on?: readonly FlagCommand[]
  /** The environment variable that another system has for it: it counts where the flag is not given. */
  variable?: string
  /** May be given several times; each is read in turn. */
  isRepeatable?: boolean
  /** The options with this text applied, or what is wrong with it: a sentence that begins with the flag. */
  read(text: string, options: Options, files: FlagFiles): Parsed<Options> | Promise<Parsed<Options>>
}

/** The texts given, by name of the flag (`--eviction-rate`), in order. */
export type FlagTexts = Readonly<Record<string, readonly string[]>>

export const isFlagOf = (command: FlagCommand, { on }: Pick<Flag<never>, 'on'>): boolean => on === undefined || on.includes(command)

/** `--eviction-rate` of `--eviction-rate <n>`. */
export const nameOfFlag = ({ flag }: Pick<Flag<never>, 'flag'>): string => flag.split(/[ ,]/)[0] ?? flag

/** `evictionRate`: the key under which commander keeps it. */
export const keyOfFlag = (flag: Pick<Flag<never>, 'flag'>): string =>
  nameOfFlag(flag)
    .replace(/^--/, '')
    .replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())

const MOST = 1_000_000

export interface NumberFlag<Options> extends Omit<Flag<Options>, 'read'> {
  least?: number
  set(options: Options, value: number): Options
}

export function numberFlag<Options>({ least = 0, set, ...flag }: NumberFlag<Options>): Flag<Options> {
  return {
    ...flag,
    read(text, options) {
      const value = Number(text)
      if (!/^\d+(\.\d+)?$/.test(text) || value < least || value > MOST)
        return unparsed(`${nameOfFlag(flag)} takes a number from ${least} to ${MOST}, not ${JSON.stringify(text)}`)
      return parsed(set(options, value))
    },
  }
}
