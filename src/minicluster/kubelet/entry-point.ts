/**
 * Images with an entry point on this machine: nothing is pulled, because the host knows the program. Such an image is named
 * by its repository, with any tag or digest. Its containers see this machine's root; a command that is not the entry point's
 * own is a program of this machine, as with any other image. Pure.
 */

/** Plain data, because it is kept with a run for the commands that are run in it later. */
export interface EntryPoint {
  /** What its program is called in commands. */
  name: string
  /** What runs for that name, and for a container without a command. */
  program: readonly string[]
  /** First arguments that have a program of their own, which gets the rest. */
  subcommands?: Readonly<Record<string, readonly string[]>>
}

/** By repository of the image. */
export type EntryPoints = ReadonlyMap<string, EntryPoint>

export const entryPointOf = (image: string | undefined, entryPoints: EntryPoints | undefined): EntryPoint | undefined =>
  image === undefined ? undefined : entryPoints?.get(repositoryOf(image))

/** An image without its tag and digest; the port of a registry is no tag. */
export function repositoryOf(image: string): string {
  const [named = ''] = image.split('@')
  const colon = named.indexOf(':', named.lastIndexOf('/') + 1)
  return colon < 0 ? named : named.slice(0, colon)
}

/** What a container runs: `command` replaces the entry point, `args` follow it. */
export function containerCommand(entryPoint: EntryPoint, command: readonly string[], args: readonly string[]): string[] {
  return inContainer(entryPoint, command.length === 0 ? [entryPoint.name, ...args] : [...command, ...args])
}

/** A command as it is run where the entry point's name is known. */
export function inContainer(entryPoint: EntryPoint | undefined, command: readonly string[]): string[] {
  const [first, second, ...rest] = command
  if (entryPoint === undefined || first !== entryPoint.name) return [...command]
  const { program, subcommands = {} } = entryPoint
  if (second === undefined) return [...program]
  const own = Object.hasOwn(subcommands, second) ? subcommands[second] : undefined
  return own === undefined ? [...program, second, ...rest] : [...own, ...rest]
}
