import { describeScope } from './parameters.js';

/** Content of a consent page. Its form sends `fields` back unchanged. */
export interface ConsentPage {
  /** Path that receives the form. */
  action: string;
  application: string;
  scopes: readonly string[];
  logins: readonly string[];
  fields: Readonly<Record<string, string>>;
  /** The user compares this code with the one on the device. */
  userCode?: string;
}

/**
 * Headers of every page. Other sites cannot show the page in a frame. Browsers send the real origin with the form; the policy `no-referrer`
 * would replace it with `null`.
 */
export const pageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy':
    "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'",
  'x-frame-options': 'DENY',
  'referrer-policy': 'same-origin',
  'cache-control': 'no-store',
} as const;

/** The page on which a user allows or denies an application's request. */
export function renderConsentPage({
  action,
  application,
  scopes,
  logins,
  fields,
  userCode,
}: ConsentPage): string {
  const hidden = Object.entries(fields).map(
    ([name, value]) => `<input type="hidden" name="${escape(name)}" value="${escape(value)}">`,
  );
  const wishes = scopes.map(
    (scope) => `<li>${escape(describeScope(scope))} <small>(${escape(scope)})</small></li>`,
  );
  const options = logins.map((login) => `<option value="${escape(login)}"></option>`);
  return renderPage(
    `${escape(application)} asks for access`,
    `${userCode === undefined ? '' : `<p>Is <strong>${escape(userCode)}</strong> the code on your device?</p>`}
<p>${scopes.length === 0 ? 'It asks for no permissions.' : 'With your permission, it can:'}</p>
<ul>${wishes.join('')}</ul>
<form method="post" action="${escape(action)}">${hidden.join('')}
<p><label>Act as the simulated user
<input name="login" list="logins" required autocomplete="off" value="${escape(logins[0] ?? '')}"></label>
<datalist id="logins">${options.join('')}</datalist></p>
<button name="decision" value="allow">Allow</button>
<button name="decision" value="deny" formnovalidate>Deny</button>
</form>`,
  );
}

/** The page on which a user enters a device's code. */
export function renderCodePage(fault: string | null): string {
  return renderPage(
    'Enter the code shown on your device',
    `${fault === null ? '' : `<p role="alert">${escape(fault)}</p>`}
<form method="get" action="/activate">
<p><label>Code <input name="device-code" required autocomplete="off"></label></p>
<button>Continue</button>
</form>`,
  );
}

/** The last page after a user has decided about a device. */
export function renderOutcomePage(isAllowed: boolean, application: string): string {
  const title = isAllowed ? `${escape(application)} now has access` : `${escape(application)} has no access`;
  return renderPage(title, '<p>You can close this page.</p>');
}

function renderPage(title: string, content: string): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${title} (simulation)</title>
<style>body{font:1rem/1.5 system-ui,sans-serif;max-width:40rem;margin:2rem auto;padding:0 1rem}button,input{font:inherit;padding:.3rem .8rem}.note{background:#fe9;padding:.5rem}</style>
</head><body>
<p class="note">This is a SIMULATED streaming platform. Its users are not real, and no password is needed.</p>
<h1>${title}</h1>
${content}
</body></html>
`;
}

function escape(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
