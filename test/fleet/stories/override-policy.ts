/** What OverridePolicies make of an object on its way to each cluster, in every way there is. */
import assert from 'node:assert/strict'
import { OVERRIDE_POLICIES, PROPAGATION_POLICIES } from '../../../src/kinds/karmada/resources.ts'
import { APPLIED_OVERRIDES } from '../../../src/kinds/karmada/well-known.ts'
import { CONFIG_MAPS, DEPLOYMENTS } from '../../../src/kinds/kubernetes/resources.ts'
import type { Deployment } from '../../../src/kinds/kubernetes/types.ts'
import { eventAppears, reaches, refusalOf, workOf } from '../expectations.ts'
import { aConfigMap, aDeployment, anOverridePolicy, aPropagationPolicy, deploymentsNamed, on, selectorOf } from '../manifests.ts'
import type { FleetArea, FleetTestbed } from '../story.ts'

const WEB = [deploymentsNamed('web')]
const imageOf = ({ spec }: Deployment): string | undefined => spec?.template?.spec?.containers?.[0]?.image

/** A Deployment on its way to the first two members, with an override that is there before it. */
async function webWith(testbed: FleetTestbed, overriders: unknown, image = 'nginx:1.19.0'): Promise<void> {
  const [member1, member2] = testbed.members
  const rule = { targetCluster: { clusterNames: [member1.name] }, overriders }
  await testbed.hub.create(anOverridePolicy('change', { selectors: WEB, rules: [rule] }))
  await testbed.hub.create(aPropagationPolicy('web', WEB, on(member1, member2)))
  const labels = { kept: 'yes', old: 'value' }
  await testbed.hub.create(aDeployment('web', { image, labels, annotations: { kept: 'yes', old: 'value' } }))
}

/** The first member has it changed, the second as it was written. */
async function onlyFirst(testbed: FleetTestbed, isChanged: (object: Deployment) => boolean): Promise<void> {
  const [member1, member2] = testbed.members
  await reaches(testbed, DEPLOYMENTS, 'web', [member1], isChanged)
  await reaches(testbed, DEPLOYMENTS, 'web', [member2], (object) => !isChanged(object))
}

const image = (component: string, operator: string, value?: string) => ({ imageOverrider: [{ component, operator, value }] })

const IMAGES: readonly [string, string, unknown, string][] = [
  ['the registry is added', 'nginx:1.19.0', image('Registry', 'add', 'registry.example'), 'registry.example/nginx:1.19.0'],
  ['the registry is replaced', 'a.example:5000/nginx:1', image('Registry', 'replace', 'b.example'), 'b.example/nginx:1'],
  ['the registry is removed', 'a.example/nginx:1', image('Registry', 'remove'), 'nginx:1'],
  ['the repository is replaced', 'a.example/nginx:1', image('Repository', 'replace', 'caddy'), 'a.example/caddy:1'],
  ['the tag is replaced', 'nginx:1.19.0', image('Tag', 'replace', '1.20'), 'nginx:1.20'],
  [
    'the image at a path is changed',
    'nginx:1.19.0',
    {
      imageOverrider: [
        { predicate: { path: '/spec/template/spec/containers/0/image' }, component: 'Tag', operator: 'replace', value: '2' },
      ],
    },
    'nginx:2',
  ],
]

const DOCUMENT = { 'app.json': '{"db":{"host":"a","port":1}}', 'app.yaml': 'db:\n  host: a\n  port: 1\n' }

export const overridePolicy: FleetArea = {
  name: 'override policy',
  stories: [
    {
      name: 'labels are added, replaced where they are, and removed',
      async run(testbed) {
        await webWith(testbed, {
          labelsOverrider: [
            { operator: 'add', value: { added: 'yes' } },
            { operator: 'replace', value: { kept: 'no', absent: 'x' } },
            { operator: 'remove', value: { old: 'value' } },
          ],
        })
        await onlyFirst(testbed, ({ metadata: { labels = {} } }) => {
          return labels.added === 'yes' && labels.kept === 'no' && labels.old === undefined && labels.absent === undefined
        })
      },
    },
    {
      name: 'annotations are added, replaced where they are, and removed',
      async run(testbed) {
        await webWith(testbed, {
          annotationsOverrider: [
            { operator: 'add', value: { added: 'yes' } },
            { operator: 'replace', value: { kept: 'no', absent: 'x' } },
            { operator: 'remove', value: { old: 'value' } },
          ],
        })
        await onlyFirst(testbed, ({ metadata: { annotations = {} } }) => {
          return (
            annotations.added === 'yes' && annotations.kept === 'no' && annotations.old === undefined && annotations.absent === undefined
          )
        })
      },
    },
    ...IMAGES.map(([what, before, overriders, after]) => ({
      name: `images: ${what}`,
      async run(testbed: FleetTestbed) {
        await webWith(testbed, overriders, before)
        await onlyFirst(testbed, (web) => imageOf(web) === after)
      },
    })),
    {
      name: 'command and arguments of a container are extended and shortened',
      async run(testbed) {
        const [member1] = testbed.members
        const overriders = {
          commandOverrider: [{ containerName: 'main', operator: 'add', value: ['--fast'] }],
          argsOverrider: [{ containerName: 'main', operator: 'remove', value: ['-v'] }],
        }
        await testbed.hub.create(anOverridePolicy('change', { selectors: WEB, rules: [{ overriders }] }))
        await testbed.hub.create(aPropagationPolicy('web', WEB, on(member1)))
        const containers = [{ name: 'main', image: 'nginx', command: ['run'], args: ['-v', '-x'] }]
        await testbed.hub.create(aDeployment('web', { pod: { containers } }))
        await reaches(testbed, DEPLOYMENTS, 'web', [member1], ({ spec }) => {
          const { command, args } = spec?.template?.spec?.containers?.[0] ?? {}
          return JSON.stringify([command, args]) === '[["run","--fast"],["-x"]]'
        })
      },
    },
    {
      name: 'a plain patch changes any field',
      async run(testbed) {
        await webWith(testbed, { plaintext: [{ path: '/spec/replicas', operator: 'replace', value: 7 }] })
        await onlyFirst(testbed, ({ spec }) => spec?.replicas === 7)
      },
    },
    ...(['json', 'yaml'] as const).map((format) => ({
      name: `a field inside a ${format} document is changed, the rest of it stays`,
      async run(testbed: FleetTestbed) {
        const [member1] = testbed.members
        const selectors = [selectorOf(aConfigMap('settings'))]
        const patches = [
          { subPath: '/db/host', operator: 'replace', value: 'b' },
          { subPath: '/db/user', operator: 'add', value: 'me' },
          { subPath: '/db/port', operator: 'remove' },
        ]
        const overriders = { fieldOverrider: [{ fieldPath: `/data/app.${format}`, [format]: patches }] }
        await testbed.hub.create(anOverridePolicy('change', { selectors, rules: [{ overriders }] }))
        await testbed.hub.create(aPropagationPolicy('settings', selectors, on(member1)))
        await testbed.hub.create(aConfigMap('settings', DOCUMENT))
        const other = format === 'json' ? 'app.yaml' : 'app.json'
        await reaches(testbed, CONFIG_MAPS, 'settings', [member1], ({ data = {} }) => {
          const text = data[`app.${format}`] ?? ''
          return /host"?: ?"?b/.test(text) && /user"?: ?"?me/.test(text) && !text.includes('port') && data[other] === DOCUMENT[other]
        })
      },
    })),
    {
      name: 'rules apply to the clusters they name, in their order, the later on top',
      async run(testbed) {
        const [member1, member2] = testbed.members
        const labels = (value: Record<string, string>) => ({ labelsOverrider: [{ operator: 'add', value }] })
        const rules = [
          { overriders: labels({ who: 'all', all: 'yes' }) },
          { targetCluster: { clusterNames: [member1.name] }, overriders: labels({ who: 'first' }) },
          {
            targetCluster: { fieldSelector: { matchExpressions: [{ key: 'region', operator: 'In', values: ['west'] }] } },
            overriders: labels({ who: 'west' }),
          },
        ]
        await testbed.hub.create(anOverridePolicy('change', { selectors: WEB, rules }))
        await testbed.hub.create(aPropagationPolicy('web', WEB, on(member1, member2)))
        await testbed.hub.create(aDeployment('web'))
        const is = (who: string) => (web: Deployment) => web.metadata.labels?.who === who && web.metadata.labels.all === 'yes'
        await reaches(testbed, DEPLOYMENTS, 'web', [member1], is('first'))
        await reaches(testbed, DEPLOYMENTS, 'web', [member2], is('west'))
      },
    },
    {
      name: 'a policy without selectors is about everything in its namespace',
      async run(testbed) {
        const [member1] = testbed.members
        const overriders = { labelsOverrider: [{ operator: 'add', value: { touched: 'yes' } }] }
        await testbed.hub.create(anOverridePolicy('all', { rules: [{ overriders }] }))
        await testbed.hub.create(aPropagationPolicy('both', [...WEB, selectorOf(aConfigMap('settings'))], on(member1)))
        await testbed.hub.create(aDeployment('web'))
        await testbed.hub.create(aConfigMap('settings'))
        await reaches(testbed, DEPLOYMENTS, 'web', [member1], ({ metadata }) => metadata.labels?.touched === 'yes')
        await reaches(testbed, CONFIG_MAPS, 'settings', [member1], ({ metadata }) => metadata.labels?.touched === 'yes')
      },
    },
    {
      name: 'the policy that names an object is applied after the one that means all, and wins',
      async run(testbed) {
        const [member1] = testbed.members
        const labels = (who: string) => [{ overriders: { labelsOverrider: [{ operator: 'add', value: { who } }] } }]
        await testbed.hub.create(anOverridePolicy('a-named', { selectors: WEB, rules: labels('named') }))
        await testbed.hub.create(anOverridePolicy('b-all', { rules: labels('all') }))
        await testbed.hub.create(aPropagationPolicy('web', WEB, on(member1)))
        await testbed.hub.create(aDeployment('web'))
        await reaches(testbed, DEPLOYMENTS, 'web', [member1], ({ metadata }) => metadata.labels?.who === 'named')
      },
    },
    {
      name: 'a policy made later changes what is there already; edited and deleted, it is followed',
      async run(testbed) {
        const [member1] = testbed.members
        await testbed.hub.create(aPropagationPolicy('web', WEB, on(member1)))
        await testbed.hub.create(aDeployment('web'))
        await reaches(testbed, DEPLOYMENTS, 'web', [member1], (web) => imageOf(web) === 'nginx:1.19.0')
        const rules = (tag: string) => [{ overriders: image('Tag', 'replace', tag) }]
        await testbed.hub.create(anOverridePolicy('later', { selectors: WEB, rules: rules('2') }))
        await reaches(testbed, DEPLOYMENTS, 'web', [member1], (web) => imageOf(web) === 'nginx:2')
        await testbed.hub.patch(OVERRIDE_POLICIES, 'later', { spec: { overrideRules: rules('3') } })
        await reaches(testbed, DEPLOYMENTS, 'web', [member1], (web) => imageOf(web) === 'nginx:3')
        await testbed.hub.delete(OVERRIDE_POLICIES, 'later')
        await reaches(testbed, DEPLOYMENTS, 'web', [member1], (web) => imageOf(web) === 'nginx:1.19.0')
      },
    },
    {
      name: 'the Work says which overrides made it, and events tell of them',
      async run(testbed) {
        const [member1] = testbed.members
        await webWith(testbed, image('Tag', 'replace', '2'))
        await onlyFirst(testbed, (web) => imageOf(web) === 'nginx:2')
        const work = await workOf(testbed, member1, 'Deployment', 'web')
        const applied = JSON.parse(work?.metadata.annotations?.[APPLIED_OVERRIDES] ?? 'null') as { policyName: string }[] | null
        assert.deepEqual(
          applied?.map(({ policyName }) => policyName),
          ['change'],
        )
        const text = new RegExp(`Apply override policy\\(${testbed.namespace}/change\\) for cluster\\(member1\\) succeed`)
        await eventAppears(testbed, 'ApplyOverridePolicySucceed', text)
      },
    },
    {
      name: 'an override that cannot be applied is told, holds back its cluster only, and is mended by the next edit',
      async run(testbed) {
        const [member1, member2] = testbed.members
        await webWith(testbed, { plaintext: [{ path: '/spec/nowhere/at/all', operator: 'remove' }] })
        await reaches(testbed, DEPLOYMENTS, 'web', [member2])
        await eventAppears(testbed, 'ApplyOverridePolicyFailed', /./)
        assert.equal(await member1.get(DEPLOYMENTS, 'web'), undefined)
        await testbed.hub.delete(OVERRIDE_POLICIES, 'change')
        await reaches(testbed, DEPLOYMENTS, 'web', [member1])
      },
    },
    {
      name: 'a policy that depends on overrides waits for them',
      async run(testbed) {
        const [member1] = testbed.members
        await testbed.hub.create(aPropagationPolicy('web', WEB, on(member1), { dependentOverrides: ['needed'] }))
        await testbed.hub.create(aDeployment('web'))
        await testbed.settle()
        assert.equal(await member1.get(DEPLOYMENTS, 'web'), undefined)
        await testbed.hub.create(anOverridePolicy('needed', { selectors: WEB, rules: [{ overriders: image('Tag', 'replace', '2') }] }))
        await reaches(testbed, DEPLOYMENTS, 'web', [member1], (web) => imageOf(web) === 'nginx:2')
        assert.deepEqual((await testbed.hub.get(PROPAGATION_POLICIES, 'web'))?.spec.dependentOverrides, ['needed'])
      },
    },
    {
      name: 'both forms of rules at once, and selectors of other namespaces, are refused',
      async run(testbed) {
        const overriders = image('Tag', 'replace', '2')
        const both = anOverridePolicy('both', { selectors: WEB, rules: [{ overriders }] })
        Object.assign(both.spec as object, { overriders })
        assert.match(await refusalOf(testbed.hub.create(both)), /overrideRules|overriders/)
        const other = anOverridePolicy('other', {
          selectors: [{ ...deploymentsNamed('web'), namespace: 'default' }],
          rules: [{ overriders }],
        })
        assert.match(await refusalOf(testbed.hub.create(other)), /namespace/)
      },
    },
  ],
}
