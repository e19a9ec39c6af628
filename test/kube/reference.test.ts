import { it } from 'node:test'
import { serverOfKubeconfig, tlsServer } from '../client/servers.ts'
import { referenceSuite } from './reference-suite.ts'

/** `npm run test:kube` starts a kube-apiserver and names its kubeconfig here. */
const file = process.env.SLUICE_TEST_KUBECONFIG ?? ''
const name = 'the reference controller on a real kube-apiserver'

if (file === '') {
  referenceSuite('the reference controller on our server, in real time', tlsServer)
  it(name, { skip: 'no kube-apiserver was started; npm run test:kube does' }, () => undefined)
} else referenceSuite(name, () => serverOfKubeconfig(file))
