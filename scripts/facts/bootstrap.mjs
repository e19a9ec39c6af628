// Facts about the objects that a server creates for itself when it first starts. Kept as returned, except for what is specific to a
// server: `<now>` stands for a time, and the addresses and the port of the `kubernetes` Service are left out. Owners of fields are
// much the same everywhere: an object names its entry of `managedFields` by number.

/** In order of creation: what others need comes first. */
const LISTS = [
  '/api/v1/namespaces',
  '/apis/scheduling.k8s.io/v1/priorityclasses',
  '/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations',
  '/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas',
  '/apis/networking.k8s.io/v1/servicecidrs',
  '/api/v1/services',
  '/apis/networking.k8s.io/v1/ipaddresses',
  '/apis/rbac.authorization.k8s.io/v1/clusterroles',
  '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings',
  '/apis/rbac.authorization.k8s.io/v1/roles',
  '/apis/rbac.authorization.k8s.io/v1/rolebindings',
  '/apis/apiregistration.k8s.io/v1/apiservices',
]

export async function bootstrapFacts(get) {
  await settled(get)
  const owners = []
  const objects = []
  for (const path of LISTS) {
    const { kind, apiVersion, items } = await get(path)
    for (const item of items) objects.push(fact({ apiVersion, kind: kind.replace(/List$/, ''), ...item }, owners))
  }
  const lines = (values) => values.map((value) => (typeof value === 'string' ? value : JSON.stringify(value))).join(',\n')
  return { name: 'bootstrap', content: `{"managedFields":[\n${lines(owners)}\n],"objects":[\n${lines(objects)}\n]}\n` }
}

function fact({ apiVersion, kind, metadata, ...rest }, owners) {
  const { uid: _uid, resourceVersion: _revision, creationTimestamp: _created, managedFields, ...meta } = metadata
  const entries = JSON.stringify(managedFields.map((entry) => ({ ...entry, time: '<now>' })))
  if (!owners.includes(entries)) owners.push(entries)
  const object = { apiVersion, kind, metadata: { ...meta, managedFields: owners.indexOf(entries) }, ...rest }
  for (const condition of rest.status?.conditions ?? []) condition.lastTransitionTime = '<now>'
  if (kind === 'Service') {
    const { ports: _ports, clusterIP: _address, clusterIPs: _addresses, ...spec } = rest.spec
    object.spec = spec
  }
  return object
}

/** A server answers before it has created everything: the last object it creates shows that it has. */
async function settled(get) {
  for (let tries = 0; tries < 60; tries += 1) {
    const [schemas, cidrs, services] = await Promise.all(LISTS.slice(3, 6).map(async (path) => (await get(path)).items))
    const isJudged = (object) => object.status?.conditions?.length > 0
    if (schemas.length > 0 && schemas.every(isJudged) && services.length > 0 && cidrs.some(isJudged)) return
    await new Promise((resolve) => setTimeout(resolve, 500))
  }
  throw new Error('the server did not make its first objects within 30 seconds')
}
