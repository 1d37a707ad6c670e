import { Button, Paper, PasswordInput, Stack, Text, TextInput, Title } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, useRouter } from '@tanstack/react-router';
import { useEffect, type SubmitEvent } from 'react';
import { api, call } from '../api/api.js';
import { ApiError } from '../api/api-error.js';
import logo from '../icon.svg';
import { FaultNotice } from '../kit/fault-notice.js';
import { sessionStore } from '../session/session.js';
import classes from './sign-in.module.css';

const route = getRouteApi('/sign-in');

/** Starts a session. Signing in does not send the user's main token to the browser. */
export function SignInPage() {
  const { from = '/' } = route.useSearch();
  const router = useRouter();
  const queries = useQueryClient();
  const signIn = useMutation({
    mutationFn: async (credentials: { username: string; password: string }) => {
      const { key, id } = await call(api().POST('/api/v1/sessions', { body: credentials }));
      // Clear the cache: the next user must not see the previous user's data.
      queries.clear();
      sessionStore.begin({ key, id, username: credentials.username });
    },
    onSuccess: () => router.navigate({ href: from, replace: true }),
  });
  useEffect(() => {
    document.title = 'Sign in · Stream events';
  }, []);
  const submit = (event: SubmitEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    signIn.mutate({ username: textOf(form, 'username'), password: textOf(form, 'password') });
  };
  // 400: the user does not exist or is disabled, or the password is wrong.
  const isRefused = signIn.error instanceof ApiError && signIn.error.status === 400;
  return (
    <main className={classes.page}>
      <Paper withBorder radius="md" p="xl" w="100%" maw={380}>
        <form onSubmit={submit}>
          <Stack>
            <div className={classes.brand}>
              <img src={logo} width={36} height={36} alt="" />
              <div>
                <Title order={1} size="h3">
                  Stream events
                </Title>
                <Text size="sm" c="dimmed">
                  Sign in to the console
                </Text>
              </div>
            </div>
            <TextInput
              label="Username"
              name="username"
              autoComplete="username"
              autoCapitalize="none"
              required
              withAsterisk={false}
              autoFocus
            />
            <PasswordInput
              label="Password"
              name="password"
              autoComplete="current-password"
              required
              withAsterisk={false}
              error={isRefused && 'The username or the password is wrong.'}
              visibilityToggleButtonProps={{ 'aria-label': 'Show the password' }}
            />
            {signIn.error && !isRefused && <FaultNotice error={signIn.error} />}
            <Button type="submit" loading={signIn.isPending}>
              Sign in
            </Button>
            <Text size="xs" c="dimmed">
              The first start of the service prints the first owner’s password, or names the file that
              contains the password. Lost the password? Run <code>npm run owner:reset</code> on the service’s
              machine.
            </Text>
          </Stack>
        </form>
      </Paper>
    </main>
  );
}

function textOf(form: FormData, field: string): string {
  const value = form.get(field);
  return typeof value === 'string' ? value : '';
}
