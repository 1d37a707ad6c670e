import { Paper, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { currentUserQuery } from '../api/queries.js';
import { AnchorLink } from '../kit/links.js';
import { Page } from '../kit/page.js';
import { QueryView } from '../kit/query-view.js';
import { ChangePassword } from './change-password.js';
import { MainToken } from './main-token.js';
import { Profile } from './profile.js';

export function AccountPage() {
  const query = useQuery(currentUserQuery);
  return (
    <Page title="Account" description="Your name, your password, and your main token">
      <QueryView query={query}>
        {(user) => (
          <Stack maw={560}>
            <Section title={`${user.username}, ${user.role === 'owner' ? 'owner' : 'user'}`}>
              <Profile user={user} />
            </Section>
            <Section
              title="Password"
              lead="A new password ends your other sessions and replaces your main token. Named tokens stay valid."
            >
              <ChangePassword username={user.username} />
            </Section>
            <Section
              title="Main token"
              lead={
                <>
                  The main token may do everything that you may do. Give programs{' '}
                  <AnchorLink inherit underline="always" to="/tokens">
                    named tokens
                  </AnchorLink>{' '}
                  instead, which are limited.
                </>
              }
            >
              <MainToken />
            </Section>
          </Stack>
        )}
      </QueryView>
    </Page>
  );
}

function Section({ title, lead, children }: { title: string; lead?: ReactNode; children: ReactNode }) {
  return (
    <Paper component="section" withBorder p="md" aria-label={title}>
      <Title order={2} size="h4">
        {title}
      </Title>
      {lead !== undefined && (
        <Text size="sm" c="dimmed" component="div">
          {lead}
        </Text>
      )}
      {children}
    </Paper>
  );
}
