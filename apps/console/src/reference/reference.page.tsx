import { Button, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconPlus, IconSearch } from '@tabler/icons-react';
import { getRouteApi } from '@tanstack/react-router';
import { useDeferredValue, useRef } from 'react';
import { Page } from '../kit/page.js';
import { PageTabs } from '../kit/page-tabs.js';
import { useShortcuts } from '../kit/shortcuts.js';
import { EndpointForm } from './endpoint-form.js';
import { Endpoints } from './endpoints.js';
import classes from './reference.module.css';
import type { ReferenceTab } from './reference.route.js';
import { ScopeForm, Scopes } from './scopes.js';

const route = getRouteApi('/signed-in/reference');

/** Shows the platform's scopes and API endpoints that this installation knows. */
export function ReferencePage() {
  const { tab = 'endpoints', q = '' } = route.useSearch();
  const navigate = route.useNavigate();
  const search = useDeferredValue(q);
  const input = useRef<HTMLInputElement>(null);
  const [isAdding, { open, close }] = useDisclosure();
  useShortcuts([{ keys: '/', title: 'Search the reference', run: () => input.current?.focus() }]);
  const show = (chosen: ReferenceTab, text: string): void =>
    void navigate({
      search: { ...(chosen !== 'endpoints' && { tab: chosen }), ...(text && { q: text }) },
      replace: true,
    });
  const Form = tab === 'scopes' ? ScopeForm : EndpointForm;
  return (
    <Page
      title="Reference"
      description="What the platform’s API offers, and which permissions it needs"
      actions={
        <Button size="xs" leftSection={<IconPlus size={15} />} onClick={open}>
          {tab === 'scopes' ? 'Add scope' : 'Add endpoint'}
        </Button>
      }
    >
      <TextInput
        ref={input}
        className={classes.search}
        type="search"
        aria-label="Search"
        placeholder="Search by name, path, or scope"
        leftSection={<IconSearch size={15} aria-hidden />}
        value={q}
        onChange={({ currentTarget }) => show(tab, currentTarget.value)}
      />
      <PageTabs
        value={tab}
        onChange={(value) => show(value, q)}
        tabs={[
          { value: 'endpoints', title: 'API endpoints', content: <Endpoints search={search} /> },
          { value: 'scopes', title: 'Scopes', content: <Scopes search={search} /> },
        ]}
      />
      {isAdding && <Form onClose={close} />}
    </Page>
  );
}
