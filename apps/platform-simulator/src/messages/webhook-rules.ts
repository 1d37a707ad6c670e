/**
 * Rules for callback URLs. The real platform requires https on port 443. The simulator also accepts http and other ports, because services
 * on the same machine use them.
 */
export const callbackRules = {
  protocols: ['http', 'https'],
  require_protocol: true,
  require_tld: false,
  allow_underscores: true, // container names can contain underscores
};

/** ASCII, 10 to 100 characters (docs/platform-facts.md §1.2). */
export const secretPattern = /^[\x20-\x7e]{10,100}$/;
export const secretRule = { message: 'secret must be 10 to 100 ASCII characters' };
