import { alert, html, page } from './layout.ts'

interface SignInPage {
  application: string
  email?: string
  problem?: string
}

export const signInPage = ({ application, email = '', problem }: SignInPage): string =>
  page(
    'Sign in',
    html`<h1>Sign in</h1>
<p class="soft">to continue to <strong>${application}</strong></p>
${alert(problem)}
<form method="post">
<label for="email">E-mail address</label>
<input id="email" name="email" type="email" value="${email}" autocomplete="username" required maxlength="254">
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required maxlength="1000">
<div class="buttons">
<button class="main" name="action" value="sign-in">Sign in</button>
<button name="action" value="cancel" formnovalidate>Cancel</button>
</div>
</form>
<p class="soft"><a href="/account/forgot-password">Forgot your password?</a></p>`,
  )
