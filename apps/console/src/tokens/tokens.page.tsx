import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconPlus } from '@tabler/icons-react';
import { Page } from '../kit/page.js';
import { CreateToken } from './create-token.js';
import { TokenTable } from './token-table.js';

export function TokensPage() {
  const [isCreating, { open, close }] = useDisclosure();
  return (
    <Page
      title="Tokens"
      description="Programs use tokens instead of your password"
      actions={
        <Button size="xs" leftSection={<IconPlus size={15} />} onClick={open}>
          Create token
        </Button>
      }
    >
      <TokenTable />
      {isCreating && <CreateToken onClose={close} />}
    </Page>
  );
}
