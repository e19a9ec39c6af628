/** Built-in admission in the order it runs, from the list that the server is given. */
import { ESCALATION } from '../../apiserver/access.ts'
import { admissionOf, ownAdmissionOf } from '../../composition.ts'
import type { Admission } from '../../kinds/admission.ts'
import { builtinAdmission } from '../../kinds/kubernetes/admission/index.ts'
import { MODULES } from '../../modules.ts'
import type { Module } from '../../runtime/module/module.ts'
import { code, type Page, page, table } from './markdown.ts'

export function admissionPage(modules: readonly Module[] = MODULES): Page {
  const shapes = [
    { name: 'hub', admission: admissionOf('hub', false, modules) },
    { name: 'members', admission: admissionOf('member', false, modules) },
    { name: 'bare', admission: admissionOf('hub', true, modules) },
  ]
  const intro =
    'Every write passes these in this order: all that change it first, then its kind’s own validation, then all that judge it. The first refusal ends the request.'
  const all = [
    ...builtinAdmission({ serviceAccount: true, storageProtection: true }),
    ...new Map([...ownAdmissionOf('hub', modules), ...ownAdmissionOf('member', modules)].map((one) => [one.name, one])).values(),
  ]
  const rows = [
    ...all.map((one) =>
      described(
        one,
        shapes.filter(({ admission }) => admission.some(({ name }) => name === one.name)).map(({ name }) => name),
      ),
    ),
    described(
      ESCALATION,
      shapes.map(({ name }) => name),
    ),
  ]
  return page('admission', { title: 'Admission', from: 'src/kinds', intro }, [
    table(
      ['', 'name', 'what it does', 'sees', 'where'],
      rows.map((cells, i) => [String(i + 1), ...cells]),
    ),
  ])
}

/** Hub, members, bare. */
const SHAPES = 3

type Described = Pick<Admission, 'name' | 'about' | 'resources' | 'operations'>

function described({ name, about = '', resources, operations }: Described, where: readonly string[]): string[] {
  const seen = resources.map(({ group, resource }) => code(group === '' || group === '*' ? resource : `${resource}.${group}`)).join(', ')
  const isForAll = resources.some(({ group }) => group === '*')
  return [
    code(name),
    about,
    `${operations.join(', ')} of ${isForAll ? 'everything' : seen}`,
    where.length === SHAPES ? 'everywhere' : where.join(', '),
  ]
}
