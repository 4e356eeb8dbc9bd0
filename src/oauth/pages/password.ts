import { minPasswordLength } from '../../features/accounts/people.ts'
import { alert, html, page } from './layout.ts'

export const forgotPage = (problem?: string): string =>
  page(
    'Forgot password',
    html`<h1>Set a new password</h1>
<p>Tell us your e-mail address, and we send you a link.</p>
${alert(problem)}
<form method="post">
<label for="email">E-mail address</label>
<input id="email" name="email" type="email" autocomplete="username" required maxlength="254">
<div class="buttons"><button class="main">Send the link</button></div>
</form>`,
  )

export const linkSentPage = (): string =>
  page(
    'Link sent',
    html`<h1>Look into your mailbox</h1>
<p>If there is an account with this address, a link is on its way. It works once, for one hour.</p>`,
  )

export const newPasswordPage = (token: string, problem?: string): string =>
  page(
    'New password',
    html`<h1>Set a new password</h1>
${alert(problem)}
<form method="post" action="/account/reset-password">
<input type="hidden" name="token" value="${token}">
<label for="password">New password</label>
<input id="password" name="password" type="password" autocomplete="new-password" required minlength="${minPasswordLength}" maxlength="200">
<p class="soft">At least ${minPasswordLength} characters. You will be signed out everywhere.</p>
<div class="buttons"><button class="main">Set the password</button></div>
</form>`,
  )

export const passwordSetPage = (): string =>
  page(
    'Password set',
    html`<h1>Your new password is set</h1>
<p>You were signed out everywhere. Sign in again with the new password.</p>`,
  )
