import { it } from 'node:test'
import { clientSuite } from '../../src/client/suite.ts'
import { serverOfKubeconfig } from './servers.ts'

/** `npm run test:kube` starts a kube-apiserver and names its kubeconfig here. */
const file = process.env.SLUICE_TEST_KUBECONFIG ?? ''

if (file === '') it('client on a real kube-apiserver', { skip: 'no kube-apiserver was started; npm run test:kube does' }, () => undefined)
else clientSuite('client on kube-apiserver', { open: () => serverOfKubeconfig(file) })
