/** The flags that modules add to a command: declared by the modules, parsed into their options, and passed on to a background start. */
import type { Command } from 'commander'
import { type FlagCommand, type FlagTexts, isFlagOf, keyOfFlag, nameOfFlag } from '../runtime/module/flags.ts'
import { FlagError, type Module } from '../runtime/module/module.ts'
import { CommandError, type Machine } from './machine.ts'

/** What commander parsed: a text, or a list of texts for a repeatable flag. */
export type CommandOptions = Readonly<Record<string, unknown>>

/** Each once: modules that ask the same question share its flag, and each reads it into its own options. */
const flagsOf = (command: FlagCommand, modules: readonly Module[]) => [
  ...new Map(
    modules.flatMap(({ flags }) => flags.filter((flag) => isFlagOf(command, flag)).map((flag) => [nameOfFlag(flag), flag] as const)),
  ).values(),
]

const collect = (value: string, before: string[]): string[] => [...before, value]

export function declareFlags(command: Command, name: FlagCommand, modules: readonly Module[]): void {
  for (const { flag, about, isRepeatable } of flagsOf(name, modules)) {
    if (isRepeatable) command.option(flag, about, collect, [])
    else command.option(flag, about)
  }
}

interface Given {
  options: CommandOptions
  env: Machine['env']
}

/** The texts of the flags that were given, by flag. */
export function givenFlags(command: FlagCommand, modules: readonly Module[], { options, env }: Given): FlagTexts {
  const texts = flagsOf(command, modules).map((flag): [string, string[]] => {
    const value = options[keyOfFlag(flag)] ?? (flag.variable === undefined ? undefined : env(flag.variable) || undefined)
    return [nameOfFlag(flag), value === undefined ? [] : Array.isArray(value) ? value.map(String) : [String(value)]]
  })
  return Object.fromEntries(texts.filter(([, given]) => given.length > 0))
}

/** The modules with the options that the flags set. */
export async function withFlags(machine: Machine, command: FlagCommand, modules: readonly Module[], texts: FlagTexts): Promise<Module[]> {
  const { files, cwd } = machine
  const reading = { resolve: (path: string) => files.resolve(cwd, path), read: files.read, exists: files.exists }
  try {
    return await Promise.all(modules.map((module) => module.withFlags(command, texts, reading)))
  } catch (error) {
    if (error instanceof FlagError) throw new CommandError(error.message, error)
    throw error
  }
}

/** The same flags for a start in the background. */
export const asArguments = (texts: FlagTexts): string[] =>
  Object.entries(texts).flatMap(([flag, given]) => given.flatMap((text) => [flag, text]))
