import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { formatKubeconfig } from '../client/kubeconfig.ts'
import { connectionFor } from './connect.ts'
import { type FakeMachine, fakeMachine } from './fake-machine.ts'

const text = (...names: string[]): string =>
  formatKubeconfig(
    names.map((name) => ({ context: name, server: `https://${name}`, caPem: 'CA', certPem: 'C', keyPem: 'K' })),
    names[0] ?? '',
  )

function machineWith(files: Record<string, string>, kubeconfig?: string): FakeMachine {
  const machine = fakeMachine()
  for (const [file, content] of Object.entries(files)) machine.texts.set(file, content)
  machine.env = (name) => (name === 'KUBECONFIG' ? kubeconfig : undefined)
  return machine
}
const serverOf = async (machine: FakeMachine, options = {}): Promise<string> => (await connectionFor(machine, options)).server

describe('which server a command means', () => {
  const files = { '/home/me/given': text('given', 'second'), '/home/me/env': text('env'), '/home/me/.sluice/kubeconfig': text('own') }

  it('the file that is named, then that of the environment, then the one of the data directory', async () => {
    assert.equal(await serverOf(machineWith(files, 'env'), { kubeconfig: 'given' }), 'https://given')
    assert.equal(await serverOf(machineWith(files, '/home/me/env:/other')), 'https://env')
    assert.equal(await serverOf(machineWith(files, '')), 'https://own')
    assert.equal(await serverOf(machineWith(files)), 'https://own')
  })

  it('in that file the context that is named', async () => {
    assert.equal(await serverOf(machineWith(files), { kubeconfig: 'given', context: 'second' }), 'https://second')
    await assert.rejects(serverOf(machineWith(files), { kubeconfig: 'given', context: 'third' }), /third/)
  })

  it('says what to do when there is none, and which file is wrong', async () => {
    await assert.rejects(serverOf(machineWith({})), /give --kubeconfig FILE, set KUBECONFIG, or start one here with: sluice up/)
    await assert.rejects(serverOf(machineWith({}), { kubeconfig: 'gone' }), /there is no file \/home\/me\/gone/)
    await assert.rejects(serverOf(machineWith({}, '/nowhere')), /there is no file \/nowhere/)
    await assert.rejects(serverOf(machineWith({ '/home/me/bad': '{' }), { kubeconfig: 'bad' }), (error: Error) => {
      assert.equal(error.name, 'CommandError')
      assert.match(error.message, /\/home\/me\/bad/)
      return true
    })
  })
})
