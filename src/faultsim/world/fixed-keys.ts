/** Keys that every world uses: generating new ones would use the machine's randomness. They protect nothing. */
export const SERVICE_ACCOUNT_KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgLHyQfsIQ09hVI+D7
7hYGCyGyzdP6lox8LvhUgIUOBwKhRANCAASfq6EHiFJnHadyh/nDhYeMZIRJE12d
qkW11/4+xRTnMfH4GLJ3fMcm2Ns5qCT0fbWi5ww7HZouFUHmuRbwaC2Y
-----END PRIVATE KEY-----
`
export const AUTHORITY = '-----BEGIN CERTIFICATE-----\nof the world\n-----END CERTIFICATE-----\n'
