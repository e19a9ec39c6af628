/** The globals of one call. Libraries are shared until a script changes one, which changes only its own copy. */
import type { Globals, Libraries } from '../compiler/compile.ts'
import type { Run } from '../run.ts'
import { LuaTable } from '../table.ts'
import type { LuaValue } from '../values.ts'
import { type Arguments, library, libraryFunction } from './arguments.ts'
import { baseLibrary } from './base.ts'
import { kubeLibrary } from './kube.ts'
import { mathLibrary } from './math.ts'
import { osLibrary } from './os.ts'
import { stringLibrary } from './string.ts'
import { tableLibrary } from './table.ts'

const packageLibrary = library(
  {
    loadlib: (args) => args.run.fail(args.site, 'package.loadlib is not supported'),
    seeall: (args) => args.run.fail(args.site, 'package.seeall is not supported'),
  },
  { config: '', cpath: '', path: '' },
)

/** The only module: the same table at every `require` of a call. */
const require = libraryFunction('require', (args: Arguments) => {
  const name = args.text(1)
  if (name !== 'kube') return args.run.fail(args.site, `module ${name} not found: only "kube" exists`)
  args.run.kube ??= LuaTable.ofLibrary(kubeLibrary)
  return args.run.kube
})

const LIBRARIES: ReadonlyMap<string, Map<LuaValue, LuaValue>> = new Map([
  ['math', mathLibrary],
  ['os', osLibrary],
  ['package', packageLibrary],
  ['table', tableLibrary],
])

/** What compiled scripts refer to without looking it up at run time. */
export const libraries: Libraries = {
  global: (name) => (name === 'require' ? require : baseLibrary.get(name)),
  fields: (name) => (name === 'string' ? stringLibrary : LIBRARIES.get(name)),
  modules: new Map([['kube', kubeLibrary]]),
}

export class CallGlobals implements Globals {
  private readonly run: Run

  constructor(run: Run) {
    this.run = run
  }

  value(name: string): LuaValue {
    const found = libraries.global(name)
    if (found !== undefined) return found
    const fields = libraries.fields(name)
    if (fields === undefined) return undefined
    const table = LuaTable.ofLibrary(fields)
    if (name === 'string') this.run.strings = table
    return table
  }

  /** All globals as a table, for scripts that name `_G`. */
  table(run: Run): LuaTable {
    const table = new LuaTable()
    for (const name of [...baseLibrary.keys(), 'string', 'require', ...LIBRARIES.keys()]) table.set(run, name, this.value(String(name)))
    table.set(run, '_G', table)
    return table
  }
}
