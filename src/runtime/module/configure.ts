/** A list of modules with other options for one of them. */
import type { ConfigurableModule, Module } from './module.ts'

/** `of` says which module is meant and what its options are; options it already has in the list are kept unless `options` names them. */
export function configure<Options>(modules: readonly Module[], of: ConfigurableModule<Options>, options: Partial<Options>): Module[] {
  // A module of this name was defined where `of` was, so it has the same options.
  return modules.map((module) => (module.name === of.name ? (module as ConfigurableModule<Options>).with(options) : module))
}

/** The options that a module has in a list; undefined when it is not in it. */
export const optionsIn = <Options>(modules: readonly Module[], of: ConfigurableModule<Options>): Options | undefined =>
  (modules.find(({ name }) => name === of.name) as ConfigurableModule<Options> | undefined)?.options
