/**
 * The seam for stories: a chapter is what `sluice up` shows on a new directory, step by step; each step is an action and its
 * expected result. The command line finds chapters by name (`--story NAME`), starts the clusters, and prints the lines.
 */
import type { Clock } from '../../base/clock.ts'
import type { Random } from '../../base/random.ts'
import type { Client } from '../../client/client.ts'

/** A line of the story. */
export interface StoryLine {
  /** Who does or says it. */
  who: string
  says: string
  /** Printed beneath it. */
  more?: readonly string[]
}

/** A step looks at a view of the clusters that its chapter defines. */
export interface StoryStep<View = unknown> {
  /** What is reported when the story stops here. */
  name: string
  act?(): Promise<void>
  /** The line, once what it says is true; undefined while it is not. */
  sees(view: View): StoryLine | undefined
  /** What is still missing when the time is up. */
  missing(view: View): string
  /** Fetches the lines printed beneath it. */
  beneath?(view: View): Promise<readonly string[]>
}

/** Ends a story with a sentence for the user. */
export class StoryRefused extends Error {}

export interface StoryEnv {
  hub: Client
  members: readonly { name: string; client: Client }[]
  clock: Clock
  random: Random
  signal: AbortSignal
  /** Cuts a member off from the hub, and reconnects it. */
  stop(member: string): Promise<unknown>
  start(member: string): Promise<unknown>
}

/** What steps look at: always the latest state the watches have delivered. */
export interface Viewer<View = unknown> {
  look(): View
  /** Called after every change until the returned function is called. */
  onChange(handler: () => void): () => void
}

export interface OpenedChapter<View = unknown> extends Viewer<View> {
  steps: readonly StoryStep<View>[]
}

export interface Chapter {
  name: string
  title: string
  /** Flags that make it quick enough to watch, unless the user set them: `{ '--eviction-rate': '10' }`. */
  flags?: Readonly<Record<string, string>>
  /** Why it cannot be shown here; undefined when it can. */
  hindrance(place: { members: number; runsProcesses: boolean }): string | undefined
  open(testbed: StoryEnv): Promise<OpenedChapter>
  /** What to try next, as commands and what each shows. */
  next(place: { dataDir: string | undefined }): readonly (readonly [command: string, shows: string])[]
}
