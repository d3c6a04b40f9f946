import { t } from '../i18n/t.ts';
import { Button } from '../parts/button.tsx';
import { Copy } from '../parts/copy.tsx';
import { Dialog } from '../parts/dialog.tsx';

/** The secret of a key, which the server shows once. */
export function NewSecret({ created, onClose }: { created: { name: string; key: string }; onClose: () => void }) {
  return (
    <Dialog title={t('The key of {name}', { name: created.name })} onClose={onClose}>
      <p>{t('It is shown this once only. Copy it now.')}</p>
      <p className="new-key">
        <Copy text={created.key} label={t('the key')} />
      </p>
      <div className="dialog-foot">
        <Button kind="primary" onClick={onClose}>
          {t('Done')}
        </Button>
      </div>
    </Dialog>
  );
}
