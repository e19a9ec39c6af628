/** A pod's names and resolvers: DNS policy and config, host aliases, host names. */
import { type FieldError, forbidden, invalid, required, tooLong } from '../../../../kube/field-error.ts'
import { checkDns1123Subdomain, checkDns1123SubdomainWithUnderscore } from '../../../../kube/names.ts'
import { boolean, type Fields, maybeObject, maybeString, objects, raw, string, strings } from '../fields.ts'
import { dnsSubdomainErrors } from '../formats.ts'
import { legacyIpErrors } from '../ip.ts'
import { appendAll, invalidEach, unsupported } from './errors.ts'

const POLICIES = ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None']
const MAX_NAMESERVERS = 3
const MAX_SEARCHES = 32
const MAX_SEARCH_CHARACTERS = 2048

export function dnsPolicyErrors(path: string, spec: Fields): FieldError[] {
  const policy = string(spec, 'dnsPolicy')
  if (policy === '') return [required(path)]
  return POLICIES.includes(policy) ? [] : [unsupported(path, policy, POLICIES)]
}

export function validateDnsConfig(path: string, spec: Fields): FieldError[] {
  const config = maybeObject(spec, 'dnsConfig')
  const [nameservers, searches] = [strings(config, 'nameservers'), strings(config, 'searches')]
  if (string(spec, 'dnsPolicy') === 'None') {
    if (config === undefined) return [required(path, 'must provide `dnsConfig` when `dnsPolicy` is None')]
    if (nameservers.length === 0) {
      return [required(`${path}.nameservers`, 'must provide at least one DNS nameserver when `dnsPolicy` is None')]
    }
  }
  const errors: FieldError[] = []
  if (nameservers.length > MAX_NAMESERVERS) {
    errors.push(invalid(`${path}.nameservers`, raw(config, 'nameservers'), `must not have more than ${MAX_NAMESERVERS} nameservers`))
  }
  nameservers.forEach((ip, i) => {
    appendAll(errors, legacyIpErrors(`${path}.nameservers[${i}]`, ip))
  })
  if (searches.length > MAX_SEARCHES) {
    errors.push(invalid(`${path}.searches`, raw(config, 'searches'), `must not have more than ${MAX_SEARCHES} search paths`))
  }
  if (Buffer.byteLength(searches.join(' ')) > MAX_SEARCH_CHARACTERS) {
    const detail = `must not have more than ${MAX_SEARCH_CHARACTERS} characters (including spaces) in the search list`
    errors.push(invalid(`${path}.searches`, raw(config, 'searches'), detail))
  }
  searches.forEach((search, i) => {
    if (search === '.') return
    const domain = search.endsWith('.') ? search.slice(0, -1) : search
    appendAll(errors, invalidEach(`${path}.searches[${i}]`, domain, checkDns1123SubdomainWithUnderscore(domain)))
  })
  objects(config, 'options').forEach((option, i) => {
    if (string(option, 'name') === '') errors.push(required(`${path}.options[${i}]`, 'must not be empty'))
  })
  return errors
}

export const validateHostAliases = (path: string, spec: Fields): FieldError[] =>
  objects(spec, 'hostAliases').flatMap((alias, i) => [
    ...legacyIpErrors(`${path}[${i}].ip`, string(alias, 'ip')),
    ...strings(alias, 'hostnames').flatMap((name, j) => dnsSubdomainErrors(`${path}[${i}].hostnames[${j}]`, name)),
  ])

export function hostnameOverrideErrors(path: string, spec: Fields): FieldError[] {
  const name = maybeString(spec, 'hostnameOverride')
  if (name === undefined) return []
  const at = `${path}.hostnameOverride`
  const errors: FieldError[] = []
  if (boolean(spec, 'setHostnameAsFQDN')) errors.push(forbidden(at, 'may not be specified when setHostnameAsFQDN is true'))
  if (boolean(spec, 'hostNetwork')) errors.push(forbidden(at, 'may not be specified when hostNetwork is true'))
  if (Buffer.byteLength(name) > 64) errors.push(tooLong(at, 64))
  return [...errors, ...invalidEach(at, name, checkDns1123Subdomain(name))]
}
