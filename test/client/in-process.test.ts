import { clientSuite } from '../../src/client/suite.ts'
import { inProcessServer } from './servers.ts'

clientSuite('client in process', { open: inProcessServer })
