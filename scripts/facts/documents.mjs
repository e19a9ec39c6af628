// Facts from the documents a server publishes about its API: discovery and OpenAPI v3.

const AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'

/** One line per resource and version, in the order of discovery. */
export async function resourceFacts(get) {
  const groups = [...(await get('/api', AGGREGATED)).items, ...(await get('/apis', AGGREGATED)).items]
  const lines = groups
    .flatMap((group) => group.versions.flatMap(({ version, resources }) => resources.map((one) => resourceFact(group, version, one))))
    .map((fact) => JSON.stringify(fact))
  return { name: 'resources', content: `[\n${lines.join(',\n')}\n]\n` }
}

function resourceFact(group, version, one) {
  return {
    group: group.metadata.name ?? '',
    version,
    resource: one.resource,
    kind: one.responseKind.kind,
    singular: one.singularResource,
    namespaced: one.scope === 'Namespaced',
    verbs: one.verbs,
    shortNames: one.shortNames,
    categories: one.categories,
    subresources: one.subresources?.map(({ subresource, responseKind, verbs }) => ({
      name: subresource,
      responseKind: `${responseKind.group}/${responseKind.version}/${responseKind.kind}`,
      verbs,
    })),
  }
}

const KINDS = 'x-kubernetes-group-version-kind'

/** Packages of definitions whose name does not follow from the group, and those that belong to no group. */
const PACKAGES = new Map([
  ['core', ['io.k8s.api.core.']],
  ['apiextensions.k8s.io', ['io.k8s.apiextensions-apiserver.']],
  ['apiregistration.k8s.io', ['io.k8s.kube-aggregator.']],
  ['meta', ['io.k8s.apimachinery.']],
])

/** One file per group version with the definitions of its own package, and one for what all share. */
export async function openApiFacts(get) {
  const { paths } = await get('/openapi/v3')
  const schemas = new Map()
  const groupVersions = [['meta', 'v1']]
  for (const [name, { serverRelativeURL }] of Object.entries(paths)) {
    const [, group = 'core', version] = /^(?:api|apis\/([^/]+))\/(v[^/]+)$/.exec(name) ?? []
    if (version !== undefined) groupVersions.push([group, version])
    const { components } = await get(serverRelativeURL)
    for (const [definition, schema] of Object.entries(components.schemas ?? {})) schemas.set(definition, structure(schema))
  }
  // A v3 document lists, for a shared definition, only its own kinds; v2 lists them all.
  for (const [definition, { [KINDS]: kinds }] of Object.entries((await get('/openapi/v2')).definitions)) {
    const schema = schemas.get(definition)
    if (schema?.[KINDS] !== undefined) schema[KINDS] = structure(kinds)
  }
  const names = [...schemas.keys()].sort(compare)
  return groupVersions.map(([group, version]) => {
    const prefixes = PACKAGES.get(group) ?? [`io.k8s.api.${group.split('.')[0]}.`]
    const own = names.filter(
      (name) => prefixes.some((prefix) => name.startsWith(prefix)) && (group === 'meta' || name.includes(`.${version}.`)),
    )
    return {
      name: `openapi/${group}_${version}`,
      content: `{\n${own.map((name) => `${JSON.stringify(name)}:${JSON.stringify(schemas.get(name))}`).join(',\n')}\n}\n`,
    }
  })
}

/** A schema with sorted keys and without descriptions; below `properties` a key is the name of a field. */
function structure(value, areNames = false) {
  if (Array.isArray(value)) return value.map((item) => structure(item))
  if (value === null || typeof value !== 'object') return value
  const keys = Object.keys(value)
    .filter((key) => areNames || key !== 'description')
    .sort(compare)
  return Object.fromEntries(keys.map((key) => [key, structure(value[key], key === 'properties' && !areNames)]))
}

const compare = (a, b) => (a < b ? -1 : a > b ? 1 : 0)
