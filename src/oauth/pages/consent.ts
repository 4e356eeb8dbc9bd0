import type { Membership } from '../../features/accounts/memberships.ts'
import { type Scope, scopeMeanings } from '../../kernel/scopes.ts'
import { alert, type Html, html, page } from './layout.ts'

interface ConsentPage {
  application: string
  /** Where the person goes afterwards. */
  destination: string
  person: { name: string; email: string }
  scopes: Scope[]
  workspaces: Membership[]
  problem?: string
}

export const consentPage = (consent: ConsentPage): string =>
  page(
    'Allow access',
    html`<h1>Allow ${consent.application} to act for you?</h1>
<p class="soft">You are signed in as ${consent.person.name} (${consent.person.email}).</p>
${alert(consent.problem)}
<form method="post">
<h2 class="soft">It will be able to:</h2>
<ul>${consent.scopes.map((scope) => html`<li>${scopeMeanings[scope]}</li>`)}</ul>
${workspaceChoice(consent.workspaces)}
<p class="soft">It can never do more than your own role there allows. You will be sent to ${consent.destination}.</p>
<div class="buttons">
${consent.workspaces.length > 0 && html`<button class="main" name="action" value="allow">Allow</button>`}
<button name="action" value="cancel" formnovalidate>Don’t allow</button>
</div>
</form>
<form method="post"><p class="soft">Not you? <button class="link" name="action" value="switch">Use another account</button></p></form>`,
  )

function workspaceChoice(workspaces: Membership[]): Html {
  if (workspaces.length === 0)
    return html`<p class="alert" role="alert">None of your workspaces gives access to applications. That takes the plan Professional or Enterprise, with API access switched on.</p>`
  const only = workspaces.length === 1
  return html`<fieldset><legend>${only ? 'In the workspace' : 'In which workspace?'}</legend>
${workspaces.map(
  (
    member,
  ) => html`<label class="choice"><input type="radio" name="workspace_id" value="${member.workspaceId}" required${only && html` checked`}>
<span>${member.name}<small>${member.environment === 'sandbox' ? 'Sandbox: test data only' : 'Production'}, as ${member.role}</small></span></label>`,
)}</fieldset>`
}
