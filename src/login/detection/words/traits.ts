// Words that mark a field or a button as not part of a login.
import type { Words } from './fields.ts';

export const GIVEN_NAME: Words = {
  en: 'first name|firstname|given name|fname|forename|f name|givenname',
  de: 'vorname*',
  fr: 'prenom',
  es: 'nombre',
  pt: 'primeiro nome|nome proprio',
  it: 'nome',
  nl: 'voornaam',
  sv: 'fornamn',
  da: 'fornavn',
  fi: 'etunimi',
  pl: 'imie',
  cs: 'krestni jmeno|jmeno',
  hu: 'keresztnev',
  ro: 'prenume',
  ru: 'имя',
  uk: 'ім я',
  el: 'ονομα',
  tr: 'adiniz',
  ar: 'الاسم الاول|الاسم الأول',
  he: 'שם פרטי',
  zh: '名字',
  ja: '名前|名',
  ko: '이름',
};

export const FAMILY_NAME: Words = {
  en: 'last name|lastname|surname|family name|lname|l name|familyname|middle name|middlename',
  de: 'nachname*|familienname',
  fr: 'nom de famille|nom',
  es: 'apellido*',
  pt: 'apelido|sobrenome|ultimo nome',
  it: 'cognome',
  nl: 'achternaam',
  sv: 'efternamn',
  da: 'efternavn|etternavn',
  fi: 'sukunimi',
  pl: 'nazwisko',
  cs: 'prijmeni',
  hu: 'vezeteknev',
  ro: 'nume de familie',
  ru: 'фамилия|отчество',
  uk: 'прізвище',
  el: 'επωνυμο',
  tr: 'soyad*',
  ar: 'اسم العائلة|الاسم الاخير',
  he: 'שם משפחה',
  zh: '姓氏|姓',
  ja: '姓|苗字',
  ko: '성',
};

export const FULL_NAME: Words = {
  en: 'full name|fullname|your name|real name|display name|displayname|name on*|name|contact name',
  de: 'vollstandiger name|name|ihr name',
  fr: 'nom complet|nom et prenom',
  es: 'nombre completo|nombre y apellidos',
  pt: 'nome completo|nome',
  it: 'nome e cognome',
  nl: 'volledige naam|naam',
  pl: 'imie i nazwisko',
  ru: 'фио|полное имя|ваше имя',
  tr: 'ad soyad|adiniz soyadiniz',
  zh: '姓名|真实姓名',
  ja: '氏名|お名前',
  ko: '성명',
  vi: 'ho va ten|ho ten',
};

export const ADDRESS: Words = {
  en: 'address line*|street*|postal*|postcode|post code|zip|zip code|zipcode|city|town|state|province|county|region|address1|address2|addressline*|billing*|shipping*|delivery*|apt|suite|home address|street address',
  de: 'strasse|plz|postleitzahl|stadt|hausnummer|anschrift|bundesland',
  fr: 'rue|code postal|ville|adresse postale',
  es: 'calle|codigo postal|ciudad|provincia|direccion postal|domicilio',
  pt: 'rua|codigo postal|cidade|morada|endereco|cep|estado',
  it: 'citta|provincia|indirizzo',
  nl: 'straat|postcode|plaats|woonplaats|huisnummer',
  pl: 'ulica|kod pocztowy|miasto',
  ru: 'улица|индекс|город|адрес доставки|почтовый индекс',
  zh: '地址|城市|邮编|郵遞區號|省',
  ja: '住所|郵便番号|都道府県|市区町村',
  ko: '주소|우편번호',
};

export const BIRTH: Words = {
  en: 'birth*|birthday|date of birth|dob|bday|age|birth year|birth date',
  de: 'geburtsdatum|geburtstag|geburts*',
  fr: 'naissance|date de naissance',
  es: 'nacimiento|fecha de nacimiento',
  pt: 'nascimento|data de nascimento',
  it: 'nascita|data di nascita',
  nl: 'geboortedatum|geboorte*',
  sv: 'fodelsedatum|fodelsedag',
  pl: 'data urodzenia',
  cs: 'datum narozeni',
  ru: 'дата рождения|день рождения',
  tr: 'dogum tarihi',
  zh: '生日|出生日期',
  ja: '生年月日|誕生日',
  ko: '생년월일',
};

export const GENDER: Words = {
  en: 'gender|sex|title|salutation|prefix|mr|mrs',
  de: 'geschlecht|anrede',
  fr: 'civilite|sexe',
  es: 'sexo|genero',
  it: 'sesso',
  ru: 'пол',
  ja: '性別',
  zh: '性别|性別',
};

export const CARD: Words = {
  en: 'card number|cardnumber|credit card|creditcard|cc number|ccnumber|cardno|card no|cvc|cvv|cvv2|csc|ccv|card code|security code cvv|name on card|nameoncard|card holder|cardholder|expiration date|expiry|exp date|expdate|mm yy|exp month|exp year|cc exp*|cc cvc|cc csc|card verification*|gift card|giftcard|routing number|iban',
  de: 'kartennummer|kreditkarte*|prufziffer|gultig bis|karteninhaber',
  fr: 'numero de carte|carte bancaire|cryptogramme|date d expiration',
  es: 'numero de tarjeta|tarjeta de credito|fecha de caducidad|fecha de vencimiento',
  pt: 'numero do cartao|cartao de credito|validade',
  it: 'numero carta|numero della carta|carta di credito|scadenza',
  nl: 'kaartnummer|creditcard|vervaldatum',
  pl: 'numer karty|data waznosci',
  ru: 'номер карты|срок действия',
  zh: '卡号|信用卡',
  ja: 'カード番号|有効期限',
  ko: '카드번호|카드 번호|유효기간',
};

export const CHECKOUT: Words = {
  en: 'checkout|check out|place order|place your order|pay now|pay|payment|purchase|buy now|buy|billing|shipping|order now|review your order|use this address|add card|donate|complete order|guest checkout|continue to payment|continue to shipping|cart|basket',
  de: 'kasse|zur kasse|bestellen|kaufen|jetzt kaufen|bezahlen|zahlung|warenkorb',
  fr: 'paiement|payer|commander|panier|passer la commande|acheter',
  es: 'pagar|pago|comprar|carrito|finalizar compra|tramitar pedido',
  pt: 'pagar|pagamento|comprar|carrinho|finalizar compra',
  it: 'pagamento|paga|acquista|carrello|ordina',
  nl: 'afrekenen|betalen|bestellen|winkelwagen',
  pl: 'zaplac|platnosc|zamow|koszyk|kup teraz',
  ru: 'оплатить|оплата|оформить заказ|корзина|купить',
  tr: 'ode|odeme|satin al|sepet',
  zh: '结账|結帳|付款|支付|购物车|購物車',
  ja: '購入|お支払い|注文|カート',
  ko: '결제|주문|장바구니',
};

export const TERMS: Words = {
  en: 'terms*|i agree*|i accept*|i have read*|agree to*|privacy policy|agreement|tos|i am over*|years of age|gdpr|consent|tandc|terms of*',
  de: 'agb|nutzungsbedingungen|datenschutz*|ich stimme*|akzeptiere*',
  fr: 'conditions*|j accepte*|cgu|politique de confidentialite',
  es: 'terminos*|condiciones*|acepto*|politica de privacidad',
  pt: 'termos*|condicoes*|aceito*|li e aceito*',
  it: 'termini*|condizioni*|accetto*|privacy',
  nl: 'voorwaarden|ik ga akkoord*|privacy*',
  sv: 'villkor*|jag godkanner*',
  da: 'betingelser*|vilkar*',
  fi: 'ehdot|kayttoehdot|hyvaksyn*',
  pl: 'regulamin*|akceptuje*|zgadzam*|polityka*',
  cs: 'podminky|souhlasim*',
  hu: 'feltetelek|elfogadom*|aszf',
  ro: 'termeni*|sunt de acord*',
  ru: 'согласен*|соглашен*|принимаю*|принимаете*|условия*|обработку персональных*|персональных данных',
  uk: 'погоджу*|умови*|угод*',
  tr: 'sartlar*|kosullar*|kabul ediyorum*|sozlesme*|kvkk',
  ar: 'الشروط|أوافق|اوافق',
  zh: '同意|条款|條款|协议|協議',
  ja: '規約|同意|プライバシーポリシー',
  ko: '약관|동의',
};

/** A field beside the user name that selects a part of a system. */
export const TENANT: Words = {
  en: 'company|company code|companyid|company id|companyname|organization|organisation|organization id|org|tenant|tenant id|workspace|domain|realm|server|branch|institution|school|database|db|site id|site|subdomain|customer code|group|quarter|interface|language|lang|locale|bank code|branch number|country|application id',
  de: 'firma|mandant|unternehmen|organisation|bankleitzahl|blz|filiale|sprache|land',
  fr: 'entreprise|societe|organisme|agence|langue|pays|etablissement',
  es: 'empresa|organizacion|sucursal|idioma|pais|tipo de documento',
  pt: 'empresa|organizacao|agencia|idioma|pais',
  it: 'azienda|societa|filiale|lingua|paese|ente',
  nl: 'bedrijf|organisatie|taal|land',
  pl: 'firma|organizacja|jezyk|kraj',
  cs: 'firma|organizace|jazyk|zeme',
  ru: 'компания|организация|язык|страна|домен|сервер',
  tr: 'firma|kurum|sube|dil|ulke|firma kodu',
  zh: '公司|企业|机构|租户|語言|语言|公司代码',
  ja: '会社|企業|法人|言語|会社コード|店番|口座番号|企業コード|テナント',
  ko: '회사|기업|언어',
};

export const COMPANY: Words = {
  en: 'company|organization|organisation|business name|employer|institution|company name',
  de: 'firma|unternehmen|organisation',
  fr: 'entreprise|societe|organisme',
  es: 'empresa|organizacion',
  it: 'azienda|societa',
  ru: 'компания|организация',
  zh: '公司|企业',
  ja: '会社|企業',
};

export const INVITATION: Words = {
  en: 'invitation*|invite*|invite code|referral*|promo*|promo code|coupon*|voucher*|registration code|access token',
  de: 'einladung*|gutschein*|aktionscode',
  fr: 'invitation|parrain*|code promo',
  es: 'invitacion|codigo promocional|referido',
  zh: '邀请码|邀請碼|推荐码',
  ja: '招待コード|紹介コード',
  ru: 'приглашение|промокод',
};

export const GUEST: Words = {
  en: 'guest|without signing in|without logging in|as a visitor|continue as guest|demo|try demo',
  de: 'gast|als gast|ohne anmeldung',
  fr: 'invite|en tant qu invite',
  es: 'invitado',
  pt: 'convidado|visitante',
  it: 'ospite',
  ru: 'гость|без регистрации',
  ja: 'ゲスト',
};

/** Other identity providers, and methods without a password. Independent of the language. */
export const OTHER_WAYS: Words = {
  en: 'google|facebook|apple|twitter|github|gitlab|linkedin|microsoft|amazon|yahoo|slack|discord|steam sign in|vk|vkontakte|odnoklassniki|yandex id|line|kakao|naver|wechat|weixin|qq|alipay|weibo|paypal|okta*|auth0|onelogin|entra id|azure ad|gitea|bitbucket|atlassian|sso|saml|single sign on|corporate sso|shibboleth|openid|oauth*|edugain|eidas|spid|cie|govbr|gov br|id me|bankid|mitid|itsme|franceconnect|passkey*|webauthn|fingerprint|face id|touch id|biometric*|qr|qr code|smart card|smartcard|certificate|piv|pivcard|e imza|social*|salesforce|keycloak|windows|kerberos|security key|mobile id|smart id|digid|clave pin|asan imza|e devlet|telegram|whatsapp',
};

/** Small buttons within forms that never submit them. */
export const MINOR: Words = {
  en: 'show|hide|show password|hide password|toggle*|clear|reset|reset form|cancel|close|back|go back|help|info|tooltip|hint|details|edit|change|copy|refresh|reload|resend*|send code|get code|send new code|menu|more|language|change language|select|remove|add|visibility|eye|view|what s this|learn more|read more|previous|new captcha|play|keyboard|faq|contact|privacy*|terms|print|upload|browse|scan',
  de: 'anzeigen|passwort anzeigen|ausblenden|loschen|abbrechen|zuruck|hilfe|schliessen|code senden|sprache',
  fr: 'afficher|masquer|effacer|annuler|retour|aide|fermer|renvoyer|langue',
  es: 'mostrar|ocultar|borrar|limpiar|cancelar|volver|ayuda|cerrar|reenviar|idioma',
  pt: 'mostrar|ocultar|exibir|limpar|cancelar|voltar|ajuda|fechar|reenviar',
  it: 'mostra|nascondi|annulla|indietro|aiuto|chiudi|cancella|pulisci|lingua',
  nl: 'tonen|verbergen|wissen|annuleren|terug|help|sluiten',
  sv: 'visa|dolj|avbryt|tillbaka|hjalp|stang',
  da: 'vis|skjul|annuller|tilbage|hjaelp|luk',
  no: 'vis|skjul|avbryt|tilbake|hjelp|lukk',
  fi: 'nayta|piilota|peruuta|takaisin|ohje|sulje',
  pl: 'pokaz|ukryj|anuluj|wstecz|pomoc|zamknij|wyczysc',
  cs: 'zobrazit|skryt|zrusit|zpet|napoveda|zavrit|vymazat',
  hu: 'megjelenit*|elrejt*|megse|vissza|sugo|bezar*|torles',
  ro: 'arata|ascunde|anuleaza|inapoi|ajutor|inchide|sterge',
  ru: 'показать*|скрыть|отмена|назад|помощь|закрыть|очистить|получить код|отправить код|обновить',
  uk: 'показати|приховати|скасувати|назад|допомога|закрити|очистити',
  tr: 'goster|gizle|iptal|geri|yardim|kapat|temizle',
  ar: 'اظهار|إظهار|اخفاء|إلغاء|الغاء|رجوع|مساعدة|مسح',
  fa: 'نمایش|انصراف|بازگشت|پاک کردن|راهنما',
  he: 'הצג|הסתר|ביטול|חזרה|עזרה|סגור|נקה',
  zh: '显示|顯示|隐藏|取消|返回|帮助|关闭|清除|清除重填|获取验证码|發送驗證碼|重置|重填|換一張',
  ja: '表示|非表示|キャンセル|戻る|ヘルプ|閉じる|クリア|リセット',
  ko: '보기|숨기기|취소|뒤로|도움말|닫기|초기화|인증번호 받기',
};
