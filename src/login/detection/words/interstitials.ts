// What pages between the password and the account say, by language. `…` stands for a few words.
import type { Words } from './fields.ts';

export const STAY_SIGNED_IN: Words = {
  en: 'stay signed in|stay logged in|keep me signed in|remain signed in|trust this browser|trust this device|remember this browser|remember this device|save your login info|save login info',
  de: 'angemeldet bleiben|eingeloggt bleiben|diesem browser vertrauen|diesem gerat vertrauen|anmeldedaten speichern',
  fr: 'rester connecte*|faire confiance a ce navigateur|faire confiance a cet appareil|se souvenir de cet appareil',
  es: 'mantener la sesion|seguir conectado|confiar en este navegador|confiar en este dispositivo|recordar este dispositivo|quiere mantener…sesion',
  pt: 'continuar conectado|manter a sessao|permanecer conectado|confiar neste navegador|confiar neste dispositivo|continuar com sessao iniciada',
  it: 'restare connesso|rimanere connesso|considera attendibile|ricordare questo dispositivo|ricorda questo dispositivo',
  nl: 'aangemeld blijven|ingelogd blijven|dit apparaat vertrouwen|deze browser vertrouwen',
  ja: 'サインインの状態を維持|ログイン状態を保持',
  zh: '保持登录状态|保持登入狀態',
};

/** To be asked which of several second factors to use. */
export const CHOOSE_FACTOR: Words = {
  en: 'verify your identity|verify it s you|choose how you want to sign in|choose how you d like to|choose a way to|how do you want to|how would you like to|select a verification method|choose a verification method|select an authentication method|choose an authentication method|choose a method|select a method|select a security method|with a security method|choose a security method|set how you want to verify|select a second factor|choose a second factor|pick a verification|another way to verify|choose your verification|select how you want|choose where to send|where should we send|verification options|authentication options',
  de: 'identitat bestatigen|bestatigen sie ihre identitat|bestatige deine identitat|wie mochten sie|wie mochtest du|methode auswahlen|wahlen sie eine methode|wahlen sie…methode|wahle eine methode|wahle…methode|bestatigungsmethode|authentifizierungsmethode|bestatigen sie dass sie es sind|bestatige dass du es bist',
  fr: 'verifiez votre identite|confirmez votre identite|verifier votre identite|confirmez qu il s agit|choisissez une methode|choisissez comment|choisissez…methode|selectionnez une methode|comment souhaitez vous|methode de verification|methode d authentification',
  es: 'verifica tu identidad|verifique su identidad|comprueba tu identidad|confirma tu identidad|confirme su identidad|elige como|elija como|elige un metodo|elija un metodo|seleccione un metodo|selecciona un metodo|metodo de verificacion|metodo de autenticacion|como quieres|como desea',
  pt: 'verifique sua identidade|verifique a sua identidade|confirme sua identidade|confirme a sua identidade|escolha como|escolha um metodo|selecione um metodo|metodo de verificacao|metodo de autenticacao|como voce quer|como deseja|como pretende',
  it: 'verifica la tua identita|conferma la tua identita|scegli come|scegli un metodo|seleziona un metodo|metodo di verifica|come vuoi',
  nl: 'verifieer je identiteit|bevestig je identiteit|bevestig uw identiteit|verifieer uw identiteit|kies een methode|kies hoe|selecteer een methode|verificatiemethode',
  ja: '本人確認|確認方法を選択|認証方法を選択',
  zh: '验证您的身份|验证身份|驗證您的身分|选择验证方式|選擇驗證方式',
};

export const PUSH: Words = {
  en: 'approve sign in request|approve the sign in request|approve the request|approve this request|approve the notification|approve the sign in|approve the login|sent a push|pushed a login|push notification|sent a notification|we sent a login request|sent a request to your|tap yes|tap approve|waiting for approval|waiting for your approval|duo push|check your phone to approve|open the…app and approve|open the…app to approve|open the…app and tap|confirm on your phone|confirm the sign in on|confirm on your other device|respond to the notification|approve from your|approve it on your|approve on your|notification to your…device',
  de: 'anmeldeanforderung genehmigen|anforderung genehmigen|anforderung bestatigen|anmeldung genehmigen|genehmigen sie|genehmige die|push benachrichtigung|benachrichtigung…gesendet|benachrichtigung an ihr|auf ihrem smartphone bestatigen|auf ihrem handy|auf ihrem gerat|in der app bestatigen|offnen sie die…app',
  fr: 'approuver la demande|approuvez la demande|approuvez la connexion|approuver la connexion|notification push|notification…envoyee|envoye une notification|confirmez sur votre telephone|confirmez sur votre appareil|ouvrez l application|validez la demande|appuyez sur oui',
  es: 'aprobar solicitud|aprobar la solicitud|apruebe la solicitud|aprueba la solicitud|aprobar inicio de sesion|apruebe el inicio|aprueba el inicio|notificacion push|enviado una notificacion|enviamos una notificacion|confirma en tu telefono|confirme en su telefono|toca si|abre la aplicacion|abra la aplicacion',
  pt: 'aprovar solicitacao|aprovar o pedido|aprove a solicitacao|aprove o pedido|aprovar a entrada|aprove o login|aprovar pedido|notificacao push|enviamos uma notificacao|notificacao…enviada|confirme no seu telefone|confirme no seu celular|confirme no seu telemovel|toque em sim|abra o aplicativo|abra a aplicacao',
  it: 'approva la richiesta|approva l accesso|notifica push|inviato una notifica|conferma sul telefono|conferma sul tuo|apri l app',
  nl: 'aanmeldingsaanvraag goedkeuren|verzoek goedkeuren|keur de aanvraag goed|keur het verzoek goed|pushmelding|pushbericht|melding gestuurd|open de app|bevestig op je telefoon',
  ja: 'サインイン要求を承認|通知を承認|通知を送信しました|リクエストを承認',
  zh: '批准登录请求|批准登入要求|已发送通知|推送通知',
};

/** The number on the page has to be entered or chosen on the phone. */
export const NUMBER_MATCH: Words = {
  en: 'enter the number shown|enter this number|enter the number below|tap the number|tap…on your phone|match the number|matching number|select the number|choose the number|number shown|enter the number|same number|number displayed|tap…and the number',
  de: 'angezeigte nummer|angezeigte zahl|zahl ein|nummer ein|tippen sie auf die zahl|diese zahl|diese nummer|tippe auf die zahl',
  fr: 'nombre affiche|numero affiche|saisissez le nombre|entrez le nombre|entrez le numero|saisissez le numero|appuyez sur le nombre|appuyez sur le numero|ce nombre',
  es: 'numero que se muestra|introduzca el numero|introduce el numero|ingrese el numero|ingresa el numero|toca el numero|toque el numero|este numero|numero mostrado',
  pt: 'numero mostrado|numero exibido|numero apresentado|insira o numero|introduza o numero|digite o numero|toque no numero|este numero',
  it: 'numero visualizzato|inserisci il numero|tocca il numero|numero mostrato',
  nl: 'weergegeven nummer|weergegeven getal|voer het getal|voer het nummer|tik op het getal',
  ja: '表示されている番号|番号を入力',
  zh: '显示的数字|顯示的數字|输入数字',
};

export const SECURITY_KEY: Words = {
  en: 'use your security key|insert your security key|touch your security key|security key|your passkey to|use your passkey|verify with a passkey|verify with your passkey|hardware key|tap your key|touch your key',
  de: 'sicherheitsschlussel|passkey verwenden|ihren passkey|deinen passkey',
  fr: 'cle de securite|cle d acces|votre passkey',
  es: 'llave de seguridad|clave de seguridad|clave de acceso|llave de acceso',
  pt: 'chave de seguranca|chave de acesso',
  it: 'chiave di sicurezza|token di sicurezza|passkey per',
  nl: 'beveiligingssleutel|toegangssleutel',
  ja: 'セキュリティ キー|セキュリティキー',
  zh: '安全密钥|安全金鑰',
};

/** A second factor has to be set up before anything else. */
export const ENROLMENT: Words = {
  en: 'set up two factor|set up two step|set up 2 step|set up 2fa|set up mfa|set up multi factor|set up multifactor|set up your authenticator|set up an authenticator|set up security methods|enable two factor|enable 2fa|enable mfa|enable multi factor|enroll in|enrol in|enrollment required|two factor authentication is required|two factor…must be|mfa is required|requires two factor|requires you to set up|more information required|needs more information to keep|help us protect your account|secure your account with|configure two factor|add a second factor|register a security|scan the qr code|scan this qr code|scan the barcode|create a passkey|add a passkey|add a phone number|add your phone number|add a recovery',
  de: 'zwei faktor authentifizierung einrichten|zwei faktor authentisierung einrichten|richten sie…ein um|richten sie die zwei|richte…zwei faktor|zwei faktor…aktivieren|bestatigung in zwei schritten einrichten|weitere informationen erforderlich|scannen sie den qr|scanne den qr|qr code scannen|passkey erstellen|authenticator…einrichten',
  fr: 'configurer l authentification|configurez l authentification|activer l authentification a deux|activez l authentification|plus d informations requises|informations supplementaires requises|scannez le code qr|scannez le qr|configurez la double|creer une cle d acces|validation en deux etapes…configurer',
  es: 'configure la autenticacion|configura la autenticacion|configurar la autenticacion|configure la verificacion|configura la verificacion|active la autenticacion|activa la autenticacion|se necesita mas informacion|se requiere mas informacion|escanee el codigo qr|escanea el codigo qr|crear una clave de acceso|crea una clave de acceso',
  pt: 'configure a autenticacao|configurar a autenticacao|configure a verificacao|configurar a verificacao|ative a autenticacao|ativar a autenticacao|mais informacoes necessarias|sao necessarias mais informacoes|leia o codigo qr|escaneie o codigo qr|digitalize o codigo qr|criar uma chave de acesso|crie uma chave de acesso',
  it: 'configura l autenticazione|configura la verifica|attiva l autenticazione|ulteriori informazioni|scansiona il codice qr|crea una passkey',
  nl: 'tweestapsverificatie instellen|stel tweestapsverificatie in|tweefactorauthenticatie instellen|stel…tweefactor|meer informatie vereist|scan de qr',
  ja: '二要素認証を設定|二段階認証を設定|2 段階認証を設定|qr コードをスキャン|詳細情報が必要',
  zh: '设置双重|设置两步|設定兩步|启用双重|需要更多信息|扫描二维码|掃描 qr',
};

export const CHOOSE_ACCOUNT: Words = {
  en: 'choose an organization|choose an organisation|select an organization|select an organisation|select your organization|choose your organization|choose a workspace|select a workspace|select your workspace|choose your workspace|choose an account|select an account|pick an account|choose account|select account|choose a team|select a team|choose a company|select a company|choose a tenant|select a tenant|select a project to|choose a profile|choose your profile|select a profile|who s watching|select your role|choose your role|select a role|which account|which organization|which organisation|choose a site|select a store|choose a store|select a school|select an institution',
  de: 'organisation auswahlen|wahlen sie eine organisation|wahle eine organisation|organisation wahlen|konto auswahlen|wahlen sie ein konto|wahle ein konto|konto wahlen|arbeitsbereich auswahlen|wahlen sie einen arbeitsbereich|wahle einen arbeitsbereich|mandant auswahlen|mandanten auswahlen|profil auswahlen|rolle auswahlen',
  fr: 'choisissez une organisation|choisir une organisation|selectionnez une organisation|choisissez un compte|choisir un compte|selectionnez un compte|choisissez un espace|choisir un espace|selectionnez un espace|choisissez un profil|choisir une entreprise|choisissez une entreprise',
  es: 'elige una organizacion|elija una organizacion|selecciona una organizacion|seleccione una organizacion|elige una cuenta|elija una cuenta|selecciona una cuenta|seleccione una cuenta|selecciona un espacio|seleccione un espacio|elige un espacio|elige un perfil|seleccione una empresa|selecciona una empresa',
  pt: 'escolha uma organizacao|selecione uma organizacao|selecionar uma organizacao|escolha uma conta|selecione uma conta|selecionar conta|escolha um espaco|selecione um espaco|escolha um perfil|selecione uma empresa|escolha uma empresa',
  it: 'scegli un organizzazione|seleziona un organizzazione|scegli un account|seleziona un account|scegli uno spazio|seleziona un profilo|scegli un profilo',
  nl: 'kies een organisatie|selecteer een organisatie|kies een account|selecteer een account|kies een werkruimte|kies een profiel',
  ja: '組織を選択|アカウントを選択|ワークスペースを選択',
  zh: '选择组织|選擇組織|选择帐户|选择账户|选择账号|選擇帳戶|选择工作区',
};

export const ACCESS: Words = {
  en: 'wants to access|would like to access|wants access to|is requesting access|is requesting permission|requests permission|would like permission|wants permission|permissions requested|this app would like|grant access|authorize…access|authorize…application|allow…to access|wants to sign you in',
  de: 'mochte auf ihr|mochte auf dein|mochte zugreifen|zugriff auf ihr|zugriff auf dein|fordert zugriff|bittet um zugriff|angeforderte berechtigungen|mochte…zugreifen|zugriff gewahren',
  fr: 'souhaite acceder|demande l acces|demande l autorisation|veut acceder|autorisations demandees|aimerait acceder|souhaite avoir acces',
  es: 'quiere acceder|solicita acceso|desea acceder|solicita permiso|permisos solicitados|quiere tener acceso|desea obtener acceso',
  pt: 'quer acessar|quer aceder|deseja acessar|deseja aceder|solicita acesso|pede acesso|permissoes solicitadas|gostaria de acessar|pretende aceder',
  it: 'vuole accedere|chiede di accedere|richiede l accesso|autorizzazioni richieste|desidera accedere',
  nl: 'wil toegang|vraagt toegang|vraagt om toegang|gevraagde machtigingen',
  ja: 'アクセスを求めています|アクセスをリクエスト|アクセス許可',
  zh: '请求访问|想要访问|要求存取|想要存取|请求权限',
};

export const ALLOW: Words = {
  en: 'authorize|authorise|allow|accept|approve|grant|yes allow|continue|agree',
  de: 'autorisieren|zulassen|erlauben|akzeptieren|genehmigen|zustimmen|annehmen|gestatten|einverstanden',
  fr: 'autoriser|accepter|j accepte|permettre|approuver|consentir|accorder',
  es: 'autorizar|permitir|aceptar|acepto|aprobar|conceder|de acuerdo',
  pt: 'autorizar|permitir|aceitar|aceito|aprovar|conceder|concordo|concordar',
  it: 'autorizza|consenti|accetta|accetto|approva|concedi|acconsento',
  nl: 'autoriseren|toestaan|accepteren|goedkeuren|akkoord|ga akkoord',
  ja: '許可|承認|同意|同意する',
  zh: '授权|允许|同意|接受|授權|允許',
};
