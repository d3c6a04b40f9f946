import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PASSWORD, USER } from '../app.ts';
import type { App } from '../app.ts';

const PROGRAM = `
import os, sys
import django
from django.conf import settings

settings.configure(
    DEBUG=False, ALLOWED_HOSTS=['127.0.0.1'], SECRET_KEY='of one test', ROOT_URLCONF=__name__, SITE_ID=1, USE_TZ=True,
    LOGIN_REDIRECT_URL='/accounts/email/', STATIC_URL='/static/', DEFAULT_AUTO_FIELD='django.db.models.AutoField',
    DATABASES={'default': {'ENGINE': 'django.db.backends.sqlite3', 'NAME': os.environ['DATABASE']}},
    INSTALLED_APPS=['django.contrib.admin', 'django.contrib.auth', 'django.contrib.contenttypes', 'django.contrib.sessions',
                    'django.contrib.messages', 'django.contrib.staticfiles', 'django.contrib.sites', 'allauth', 'allauth.account',
                    'allauth.socialaccount'],
    MIDDLEWARE=['django.contrib.sessions.middleware.SessionMiddleware', 'django.middleware.common.CommonMiddleware',
                'django.middleware.csrf.CsrfViewMiddleware', 'django.contrib.auth.middleware.AuthenticationMiddleware',
                'django.contrib.messages.middleware.MessageMiddleware'],
    TEMPLATES=[{'BACKEND': 'django.template.backends.django.DjangoTemplates', 'APP_DIRS': True, 'OPTIONS': {'context_processors': [
        'django.template.context_processors.request', 'django.contrib.auth.context_processors.auth',
        'django.contrib.messages.context_processors.messages']}}],
    AUTHENTICATION_BACKENDS=['django.contrib.auth.backends.ModelBackend', 'allauth.account.auth_backends.AuthenticationBackend'],
    AUTH_PASSWORD_VALIDATORS=[{'NAME': 'django.contrib.auth.password_validation.MinimumLengthValidator'},
                              {'NAME': 'django.contrib.auth.password_validation.NumericPasswordValidator'}],
    EMAIL_HOST='127.0.0.1', EMAIL_PORT=int(os.environ['SMTP_PORT']), DEFAULT_FROM_EMAIL='site@example.com',
    ACCOUNT_EMAIL_REQUIRED=True, ACCOUNT_EMAIL_VERIFICATION='mandatory', ACCOUNT_AUTHENTICATION_METHOD='username_email')
django.setup()

from django.contrib import admin
from django.urls import include, path

urlpatterns = [path('admin/', admin.site.urls), path('accounts/', include('allauth.urls'))]

from django.core.management import execute_from_command_line
execute_from_command_line(sys.argv)
`;

const MAKE_USER = `
from django.contrib.auth.models import User
from allauth.account.models import EmailAddress
user = User.objects.create_superuser(${JSON.stringify(USER)}, 'ada@example.com', ${JSON.stringify(PASSWORD)})
EmailAddress.objects.create(user=user, email='ada@example.com', verified=True, primary=True)
`;

/** Django's own administration, and allauth with accounts that people create and confirm by email. */
export const DJANGO: App = {
  name: 'django',
  file: '/usr/lib/python3/dist-packages/allauth/__init__.py',
  package: 'python3-django-allauth',
  prepare({ port, scratch, smtpPort }) {
    const program = join(scratch, 'website.py');
    writeFileSync(program, PROGRAM);
    const environment = [`DATABASE=${join(scratch, 'site.db')}`, `SMTP_PORT=${smtpPort}`];
    const run = (...args: string[]) =>
      execFileSync('env', [...environment, '/usr/bin/python3', program, ...args], { stdio: 'pipe' });
    run('migrate', '--verbosity', '0');
    run('shell', '--command', MAKE_USER);
    // `--insecure` serves styles and scripts here.
    const args = ['runserver', '--noreload', '--insecure', `127.0.0.1:${port}`];
    return { command: 'env', args: [...environment, '/usr/bin/python3', program, ...args] };
  },
  readyPath: '/accounts/login/',
};
