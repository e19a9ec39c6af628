/** Which controllers have no `survives` line in any test: found in the sources, so that no list has to be maintained. */

export interface Sources {
  /** Text of the file at this path below the project's root; undefined when there is none. */
  read(path: string): string | undefined
  /** Texts of all test files. */
  tests: readonly string[]
}

export function withoutSurvival(names: readonly string[], sources: Sources): string[] {
  return names.filter((name) => {
    // One file defines both: the controller of namespaced objects and its twin for cluster-scoped ones.
    const path = name.replace(/\.cluster-scoped$/, '').replaceAll('.', '/')
    const own = sources.read(`src/${path}/controller.ts`) ?? ''
    const exported = [...own.matchAll(/^export (?:const|function) (\w+)/gm)].map(([, identifier]) => identifier as string)
    const forms = [`\\{\\s*name:\\s*'${name.replaceAll('.', '\\.')}'`, ...exported.map((identifier) => `${identifier}\\b`)]
    const line = new RegExp(`\\bsurvives\\(\\s*(?:${forms.join('|')})`)
    return !sources.tests.some((text) => line.test(text))
  })
}
