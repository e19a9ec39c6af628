/** For tests of single controllers: every other module, without this one. */
import { MODULES } from '../modules.ts'
import type { Module } from '../runtime/module/module.ts'

export const otherModules: readonly Module[] = MODULES.filter(({ name }) => name !== 'data')
