/** Which pods run for real and which are simulated: decided as the README says, and shown on the pod. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { Pod } from '../../../src/kinds/kubernetes/types.ts'
import { aPod, type Place, shell, until } from './place.ts'

const RUN = 'sluice.dev/run'

export function placement(place: () => Place): void {
  it('nginx as people write it is played, and event and condition say what to do to run it', async () => {
    const p = place()
    await p.kubectl('run', 'nginx', '--image=nginx')
    await p.kubectl('wait', '--for=condition=Ready', 'pod/nginx', '--timeout=90s')
    const pod = await p.running('nginx')
    assert.match(pod.spec?.nodeName ?? '', /^member1-simulated-/)
    const what = /container nginx names no command.*give it a command that exists on this machine, or start with --image nginx=DIRECTORY/
    const condition = pod.status?.conditions?.find(({ type }) => type === 'sluice.dev/Simulated')
    assert.equal(condition?.status, 'True')
    assert.match(condition?.message ?? '', what)
    const events = (await p.events(pod)).filter(({ reason }) => reason === 'Simulated')
    assert.equal(events.length, 1)
    assert.match(events[0]?.message ?? '', what)
    for (const command of [
      ['logs', 'nginx'],
      ['exec', 'nginx', '--', 'ls'],
      ['exec', '-it', 'nginx', '--', 'sh'],
    ]) {
      const refused = await p.tryKubectl(...command)
      assert.equal(refused.exitCode, 1, command.join(' '))
      assert.match(refused.stderr, /pod "nginx" is simulated: its life is played.*up --image NAME=DIR/, command.join(' '))
    }
  })

  it('sluice.dev/run on a pod or its namespace decides', async () => {
    const p = place()
    await p.apply(aPod('played', { containers: [shell('sleep 100000')] }, { [RUN]: 'simulated' }))
    assert.match((await p.running('played')).spec?.nodeName ?? '', /^member1-simulated-/)

    // It is not known what to run for the image: if the pod asks to run for real, that is reported instead of simulating it.
    await p.apply(aPod('wanted', { containers: [{ name: 'main', image: 'nginx' }] }, { [RUN]: 'process' }))
    const wanted = await p.podWhen(
      'wanted',
      ({ status }) => status?.containerStatuses?.[0]?.state?.waiting?.reason === 'CreateContainerError',
    )
    assert.match(wanted.spec?.nodeName ?? '', /^member1-process-/)
    assert.match(wanted.status?.containerStatuses?.[0]?.state?.waiting?.message ?? '', /set command to a program of this machine/)

    const refused = await p.person.runWith(
      JSON.stringify(aPod('neither', { containers: [shell('true')] }, { [RUN]: 'perhaps' })),
      ...['kubectl', ...p.access(), 'apply', '-f', '-'],
    )
    assert.equal(refused.exitCode, 1)
    assert.match(refused.stderr, /must be simulated or process/)

    await p.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'theatre', annotations: { [RUN]: 'simulated' } } })
    let seen = ''
    await until(
      () => `a pod of the namespace on a simulated node: ${seen}`,
      async () => {
        await p.tryKubectl('-n', 'theatre', 'run', 'played', '--image=any', '--command', '--', 'sleep', '100000')
        const [pod] = await p.list<Pod>('/api/v1/namespaces/theatre/pods')
        seen = pod?.spec?.nodeName ?? ''
        return seen.startsWith('member1-simulated-')
      },
    )
  })

  it('a pod whose image is mapped to a directory sees that as its root, and leaves it as it is', async () => {
    const p = place()
    const before = await p.shell(`cd ${imageRoot(p)} && find . | sort`)
    const script = ': > /new && read line < /etc/name && echo "I am $line in $PWD, with" /*'
    await p.apply(
      aPod('boxed', {
        restartPolicy: 'Never',
        containers: [
          { name: 'main', image: IMAGE, command: ['/bin/sh'], args: ['-c', script], volumeMounts: [{ name: 'v', mountPath: '/volume' }] },
        ],
        volumes: [{ name: 'v', emptyDir: {} }],
      }),
    )
    const pod = await p.podWhen('boxed', ({ status }) => status?.phase === 'Succeeded' || status?.phase === 'Failed')
    const said = await p.kubectl('logs', 'boxed')
    assert.equal(pod.status?.phase, 'Succeeded', said)
    assert.match(said, /^I am box in \/, with .*\/bin .*\/etc .*\/new .*\/volume/)
    assert.doesNotMatch(said, /\/root|\/home|\/usr/)
    assert.equal(await p.shell(`cd ${imageRoot(p)} && find . | sort`), before)
  })
}

const IMAGE = 'example.com/box:1'
const imageRoot = (p: Place): string => p.person.file('box')

/** A root with a shell and what it needs, created as the user; returns options of `up` that map an image to it. */
export async function makeImage(p: Place): Promise<string[]> {
  const root = imageRoot(p)
  await p.shell(`mkdir -p ${root}/bin ${root}/etc && echo box > ${root}/etc/name && cp -L "$(command -v sh)" ${root}/bin/sh
    for file in $(ldd ${root}/bin/sh | grep -o '/[^ ]*'); do mkdir -p ${root}$(dirname $file) && cp -L $file ${root}$file; done`)
  return ['--image', `${IMAGE}=${root}`]
}
