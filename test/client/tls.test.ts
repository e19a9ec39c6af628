import { clientSuite } from '../../src/client/suite.ts'
import { tlsServer } from './servers.ts'

clientSuite('client over TLS', { open: tlsServer })
